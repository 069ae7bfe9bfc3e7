import type { Resource } from '@orch/core/catalogue'
import type { WatchFormat } from '@orch/core/contracts'

interface Remade<T> {
  readonly resource: Resource
  readonly format: string
  readonly made: T
}

/** The converted frames by the original ones. */
type Made<T> = WeakMap<Uint8Array, Remade<T>[]>

/** The form of converted events. CBOR is converted from events in JSON. */
type RemadeFormat = WatchFormat | { readonly kind: 'cbor' }

/** Converts events from watch, once for all clients of the same bytes; released with those. */
export class RemadeFrames {
  readonly #made: Made<Uint8Array> = new WeakMap()
  readonly #converted: Made<Promise<Uint8Array>> = new WeakMap()

  /** The events in the version and format of a client. */
  of(frames: Uint8Array, resource: Resource, watchFormat: RemadeFormat, make: () => Uint8Array): Uint8Array {
    return once(this.#made, frames, resource, watchFormat, make)
  }

  /** Like the method above, for kinds with conversion webhooks. */
  later(frames: Uint8Array, resource: Resource, watchFormat: RemadeFormat, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    return once(this.#converted, frames, resource, watchFormat, make)
  }
}

function once<T>(made: Made<T>, frames: Uint8Array, resource: Resource, watchFormat: RemadeFormat, make: () => T): T {
  const format = JSON.stringify(watchFormat)
  const known = made.get(frames) ?? []
  const same = known.find((one) => one.resource === resource && one.format === format)
  if (same !== undefined) return same.made
  const fresh = make()
  made.set(frames, [...known, { resource, format, made: fresh }])
  return fresh
}
