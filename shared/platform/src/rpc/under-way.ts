import { noAnswerInTime } from './wire-failure.ts'

/** A call that is being answered and may be cancelled. Its signal is made on demand: most calls need none. */
export class UnderWay {
  #controller: AbortController | undefined
  #isCancelled = false
  #onCancel: (() => void) | undefined

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isCancelled) this.#controller.abort()
    return this.#controller.signal
  }

  cancel(): void {
    this.#isCancelled = true
    this.#controller?.abort()
    this.#onCancel?.()
  }

  /** The answer, or an error as soon as it is cancelled: a call that heeds no signal must not hold its place for ever. */
  answer(answer: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(noAnswerInTime())
      if (this.#isCancelled) this.#onCancel()
      Promise.resolve(answer).then(resolve, reject)
    })
  }
}
