import { slabBytes } from '../limits.ts'

/**
 * Room for the bytes of many objects in one buffer, since a buffer for each costs more than copying the object. A slab
 * lives as long as any object in it; `State` moves what is left in old slabs into joined leaves from time to time.
 */
export class Slabs {
  /** Where the last `reserve` lies. */
  bytes: Uint8Array = Buffer.allocUnsafeSlow(slabBytes)
  #used = 0
  /** Bytes reserved since `allocated` was last set to 0. */
  allocated = 0

  /** Reserves room in `bytes` and says where it begins. */
  reserve(length: number): number {
    this.allocated += length
    if (length > this.bytes.length - this.#used) {
      this.bytes = Buffer.allocUnsafeSlow(Math.max(length, slabBytes))
      this.#used = 0
    }
    const start = this.#used
    this.#used += length
    return start
  }
}
