import { nodeLimits } from '@orch/core/contracts'
import { PushStream } from '@orch/platform'

/** A one-way queue, whose writer waits while it is full. */
export class Way<T> {
  readonly parts: PushStream<T>
  #room: PromiseWithResolvers<void> | undefined

  constructor(onClose: () => void) {
    const wake = () => {
      this.#room?.resolve()
      this.#room = undefined
    }
    this.parts = new PushStream<T>({
      onDrain: wake,
      onClose: () => {
        wake()
        onClose()
      },
    })
  }

  async push(part: T, sizeBytes: number): Promise<void> {
    this.parts.push(part, sizeBytes)
    if (this.parts.ended || this.parts.waitingBytes < nodeLimits.waitingBytesMax) return
    this.#room ??= Promise.withResolvers()
    await this.#room.promise
  }
}
