import type { Resource } from '@orch/core/catalogue'
import type { WatchFormat } from '@orch/core/contracts'

interface Remade {
  readonly resource: Resource
  readonly format: string
  readonly bytes: Uint8Array
}

/** Events that were made anew from what watch gives, once for all clients that are given the same bytes; freed with those. */
export class RemadeFrames {
  readonly #made = new WeakMap<Uint8Array, Remade[]>()

  /** The events in the version and format of a client. */
  of(frames: Uint8Array, resource: Resource, watchFormat: WatchFormat, make: () => Uint8Array): Uint8Array {
    const format = JSON.stringify(watchFormat)
    const known = this.#made.get(frames) ?? []
    const same = known.find((one) => one.resource === resource && one.format === format)
    if (same !== undefined) return same.bytes
    const bytes = make()
    this.#made.set(frames, [...known, { resource, format, bytes }])
    return bytes
  }
}
