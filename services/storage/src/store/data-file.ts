import { closeSync, fdatasync, fstatSync, openSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { zeroBytesPerWrite } from '../limits.ts'

const writeAt = promisify(write)
const syncData = promisify(fdatasync)

/**
 * A file that is kept longer than its content, with blocks that have been written: later writes into them need no
 * new ones. (A file that is only made longer has holes, and a hole gets its block when it is written.)
 */
export class DataFile {
  readonly #descriptor: number
  #bytes: number

  /** `contentBytes`: as many of its bytes have been written for certain. */
  constructor(path: string, contentBytes: number) {
    this.#descriptor = openSync(path, 'r+')
    const { size, blocks } = fstatSync(this.#descriptor)
    // A copy may have become sparse: its end is written once more.
    this.#bytes = blocks * statBlockBytes >= size ? size : Math.min(size, contentBytes)
  }

  /** Length of the part that has blocks. */
  get bytes(): number {
    return this.#bytes
  }

  /** Writes zeros up to this length and syncs. What could be written before a failure counts. */
  async extend(bytes: number): Promise<void> {
    try {
      for (let at = this.#bytes; at < bytes; ) {
        const zeros = Buffer.alloc(Math.min(bytes - at, zeroBytesPerWrite))
        at += (await writeAt(this.#descriptor, zeros, 0, zeros.length, at)).bytesWritten
      }
    } finally {
      await syncData(this.#descriptor)
      this.#bytes = Math.max(this.#bytes, Math.min(bytes, fstatSync(this.#descriptor).size))
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Unit of the number of blocks that the system tells. */
const statBlockBytes = 512
