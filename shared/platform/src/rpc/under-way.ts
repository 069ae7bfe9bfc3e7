import type { Stream } from '@orch/core/contracts'
import { rpcLimits } from './limits.ts'
import { noAnswerInTime } from './wire-failure.ts'

/** A call that is being answered and may be cancelled. Its signal is made on demand: most calls need none. */
export class UnderWay {
  #controller: AbortController | undefined
  #isCancelled = false
  #onCancel: (() => void) | undefined
  /** Bytes of a stream that its reader has not taken. */
  #waitingBytes = 0
  #onRoom: (() => void) | undefined

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isCancelled) this.#controller.abort()
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancel(): void {
    this.#isCancelled = true
    this.#controller?.abort()
    this.#onCancel?.()
    this.#onRoom?.()
  }

  /** The answer, or an error as soon as it is cancelled: a call that heeds no signal must not hold its place for ever. */
  answer(answer: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(noAnswerInTime())
      if (this.#isCancelled) this.#onCancel()
      Promise.resolve(answer).then(resolve, reject)
    })
  }

  /** The answer is a stream, which is closed when it is cancelled. */
  reads(parts: Stream<unknown>): void {
    this.#onCancel = () => parts.close()
    if (this.#isCancelled) parts.close()
  }

  /** The reader of the stream has taken so many bytes. */
  taken(bytes: number): void {
    this.#waitingBytes -= bytes
    if (this.#waitingBytes < rpcLimits.windowBytes) this.#onRoom?.()
  }

  /** Adds the sent bytes of a stream, and resolves when more may be sent. */
  async room(bytes: number): Promise<void> {
    this.#waitingBytes += bytes
    if (this.#isCancelled || this.#waitingBytes < rpcLimits.windowBytes) return
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve
    })
    this.#onRoom = undefined
  }
}
