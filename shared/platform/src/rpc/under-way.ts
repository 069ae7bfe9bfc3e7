import type { Stream } from '@orch/core/contracts'
import { rpcLimits } from './limits.ts'
import { noAnswerInTime } from './wire-failure.ts'

/** A cancellable call that is being answered. Its signal is created on demand, since most calls do not need it. */
export class UnderWay {
  #controller: AbortController | undefined
  #isCancelled = false
  #onCancel: (() => void) | undefined
  /** Bytes of a stream that the reader has not taken. */
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

  /** The answer, or an error when the call is cancelled, so that a call that ignores its signal does not hold its place for ever. */
  answer(answer: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onCancel = () => reject(noAnswerInTime())
      if (this.#isCancelled) this.#onCancel()
      Promise.resolve(answer).then(resolve, reject)
    })
  }

  /** Closes the stream of the answer if the call is cancelled. */
  reads(parts: Stream<unknown>): void {
    this.#onCancel = () => parts.close()
    if (this.#isCancelled) parts.close()
  }

  /** Reports a number of bytes that the reader has taken. */
  taken(bytes: number): void {
    this.#waitingBytes -= bytes
    if (this.#waitingBytes < rpcLimits.windowBytes) this.#onRoom?.()
  }

  /** Adds sent bytes of a stream, and resolves when more may be sent. */
  async room(bytes: number): Promise<void> {
    this.#waitingBytes += bytes
    if (this.#isCancelled || this.#waitingBytes < rpcLimits.windowBytes) return
    await new Promise<void>((resolve) => {
      this.#onRoom = resolve
    })
    this.#onRoom = undefined
  }
}
