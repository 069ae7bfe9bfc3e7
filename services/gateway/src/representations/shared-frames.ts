import type { Resource } from '@orch/core/catalogue'
import type { Entry, WatchFormat } from '@orch/core/contracts'

/** The form of an event, and the second for which it shows ages. */
export interface FrameForm {
  /** Undefined for the object itself as JSON. */
  readonly format: WatchFormat | undefined
  readonly moment: number
}

/** Events of smaller objects are made for each watcher: finding one would cost as much. */
const sharedBytesMin = 16 * 1024
/** Texts of dropped events are swept at this number, and at twice the number left by the last sweep. */
const sweepAtLeast = 256

/**
 * Events of the initial state with large objects, or these objects if they come from another process, shared by all watches that have not sent theirs
 * yet. Once no watch holds one, it is collected.
 */
export class SharedFrames {
  readonly #made = new Map<string, { readonly resource: Resource; readonly frame: WeakRef<Uint8Array> }>()
  #sweepAt = sweepAtLeast

  of(entry: Entry, resource: Resource, form: FrameForm, make: () => Uint8Array): Uint8Array {
    if (entry.value.length < sharedBytesMin) return make()
    const key = `${entry.key} ${entry.revision} ${resource.version} ${JSON.stringify(form)}`
    const known = this.#made.get(key)
    const frame = known?.resource === resource ? known.frame.deref() : undefined
    if (frame !== undefined) return frame
    const made = make()
    if (this.#made.size >= this.#sweepAt) this.#sweep()
    this.#made.set(key, { resource, frame: new WeakRef(made) })
    return made
  }

  #sweep(): void {
    for (const [key, { frame }] of this.#made) if (frame.deref() === undefined) this.#made.delete(key)
    this.#sweepAt = Math.max(sweepAtLeast, this.#made.size * 2)
  }
}
