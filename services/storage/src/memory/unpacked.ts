import type { Revision } from '@orch/core/meta'

/** An object of the past that takes all of its room. */
export interface UnpackedObject {
  /** The revision of the object. */
  readonly revision: Revision
  /** The revision of the change that has superseded it. */
  readonly supersededAt: Revision
  /** True: it was deleted. */
  readonly isDeleted: boolean
  readonly bytes: number
}

/** Taken objects that may remain in the list. */
const takenMax = 1_000

/** Objects of the past that are still to be packed, oldest first. */
export class Unpacked {
  #objects: UnpackedObject[]
  /** Objects at the beginning of the list that have been taken. */
  #taken = 0
  /** Bytes of all of them. */
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

  /** Removes and returns the oldest. */
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
