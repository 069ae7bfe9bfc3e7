import { closeSync, fdatasync, fstatSync, openSync, write } from 'node:fs'
import { promisify } from 'node:util'
import { limits } from '../limits.ts'

const writeAt = promisify(write)
const syncData = promisify(fdatasync)

/**
 * A file that is kept longer than its content with written blocks, so that later writes need no new blocks. (A file that is only made longer has holes,
 * and a hole gets its block when it is written.)
 */
export class DataFile {
  readonly #descriptor: number
  #bytes: number

  /** `contentBytes`: the number of bytes that are certainly written. */
  constructor(path: string, contentBytes: number) {
    this.#descriptor = openSync(path, 'r+')
    const { size, blocks } = fstatSync(this.#descriptor)
    // A copy may have become sparse, so its end is written again.
    this.#bytes = blocks * statBlockBytes >= size ? size : Math.min(size, contentBytes)
  }

  /** The length of the part that has blocks. */
  get bytes(): number {
    return this.#bytes
  }

  /** Writes zeros up to this length and syncs. The bytes written before a failure count. */
  async extend(bytes: number): Promise<void> {
    try {
      for (let at = this.#bytes; at < bytes; ) {
        const zeros = Buffer.alloc(Math.min(bytes - at, limits.zeroBytesPerWrite))
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

/** The unit of the system's block count. */
const statBlockBytes = 512
