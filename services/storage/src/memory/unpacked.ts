import type { Revision } from '@orch/core/meta'

/** A past object in its full size. */
export interface UnpackedObject {
  /** The revision of the object. */
  readonly revision: Revision
  /** The revision of the change that superseded the object. */
  readonly supersededAt: Revision
  /** True if the change deleted the object. */
  readonly isDeleted: boolean
  readonly bytes: number
}

/** The removed objects that may remain in the list. */
const takenMax = 1_000

/** Past objects that still have to be packed, oldest first. */
export class Unpacked {
  #objects: UnpackedObject[]
  /** The number of removed objects at the beginning of the list. */
  #taken = 0
  /** The bytes of all objects. */
  bytes = 0

  constructor(objects: UnpackedObject[] = []) {
    this.#objects = objects
    for (const { bytes } of objects) this.bytes += bytes
  }

  fork(): Unpacked {
    return new Unpacked(this.#objects.slice(this.#taken))
  }

  add(object: UnpackedObject): void {
    this.#objects.push(object)
    this.bytes += object.bytes
  }

  /** Removes and returns the oldest object. */
  take(): UnpackedObject | undefined {
    const oldest = this.#objects[this.#taken]
    if (oldest === undefined) return undefined
    this.bytes -= oldest.bytes
    this.#taken += 1
    if (this.#taken > takenMax && this.#taken * 2 > this.#objects.length) {
      this.#objects = this.#objects.slice(this.#taken)
      this.#taken = 0
    }
    return oldest
  }
}
