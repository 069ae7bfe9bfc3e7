import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Revision } from '@orch/core/meta'
import { firstLogPageBytes, largeLogPageBytes, logPageBytes, logPageEntries } from '../limits.ts'
import { encodeLogEntry } from './log-entry.ts'
import type { LogEntry } from './tables.ts'

/** The numbers of an entry: its place in the log, and its bytes in the page. */
const marks = { revision: 0, previous: 1, replaces: 2, start: 3, length: 4 } as const
const marksPerEntry = 5

/** The place of an entry in the log. */
type Place = Pick<LogEntry, 'revision' | 'previous' | 'replaces'>

const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/**
 * Entries of a log as bytes, in revision order. V8's collector sees a few objects for each page, however many entries it has. Searches of the past
 * read marks and keys, which are never packed.
 */
export class LogPage {
  readonly #keys: string[] = []
  #keyBytes = 0
  /** Bytes of its entries, unpacked. */
  length = 0
  #marks = new Float64Array(marksPerEntry * 8)
  #bytes: Buffer
  #used = 0
  #isPacked = false

  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(firstLogPageBytes)) {
    this.#bytes = bytes
  }

  /** The number of entries. */
  get count(): number {
    return this.#keys.length
  }

  get isPacked(): boolean {
    return this.#isPacked
  }

  /** Bytes in memory, with each key as if no other entry had it. */
  get size(): number {
    return this.#bytes.length + this.#marks.byteLength + this.#keyBytes
  }

  get last(): Revision {
    return this.mark(this.count - 1, 'revision')
  }

  key(index: number): string {
    return this.#keys[index] ?? ''
  }

  placeOf(index: number): Place {
    return { revision: this.mark(index, 'revision'), previous: this.mark(index, 'previous'), replaces: this.mark(index, 'replaces') }
  }

  mark(index: number, name: keyof typeof marks): number {
    return this.#marks[index * marksPerEntry + marks[name]] ?? 0
  }

  /** The index of the first entry above a revision. */
  indexAfter(revision: Revision): number {
    let [low, high] = [0, this.count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.mark(middle, 'revision') <= revision) low = middle + 1
      else high = middle
    }
    return low
  }

  /** True if an entry of this size may be added. */
  hasRoomFor(length: number): boolean {
    return this.#used + length <= (this.count < logPageEntries ? largeLogPageBytes : logPageBytes)
  }

  /** True if most bytes belong to entries that a page before it had. */
  get isThin(): boolean {
    return this.length < this.#used / 2
  }

  /** Appends an entry of this size. Entries of one key share its string. */
  append(entry: LogEntry, key: string, length: number): void {
    const start = this.#reserve(length)
    encodeLogEntry(entry, this.#bytes.subarray(start, start + length))
    this.#add(key, entry, start, length)
  }

  /** A page with the entries of these indexes, which shares their bytes. */
  keeping(indexes: readonly number[]): LogPage {
    const page = new LogPage(this.#bytes)
    page.#used = this.#used
    page.#isPacked = this.#isPacked
    for (const index of indexes) page.#add(this.key(index), this.placeOf(index), this.mark(index, 'start'), this.mark(index, 'length'))
    return page
  }

  /** Appends the entries of another page, and copies their bytes. */
  join(page: LogPage): void {
    const bytes = page.unpacked()
    for (let index = 0; index < page.count; index++) {
      const from = page.mark(index, 'start')
      const length = page.mark(index, 'length')
      const start = this.#reserve(length)
      bytes.copy(this.#bytes, start, from, from + length)
      this.#add(page.key(index), page.placeOf(index), start, length)
    }
  }

  /** Compresses the bytes, for all logs that have the page. Results of `unpacked` remain valid. */
  pack(): void {
    const packed = zstdCompressSync(this.#bytes.subarray(0, this.#used), packing)
    // A separate buffer, since zlib returns a part of a larger one.
    this.#bytes = Buffer.from(Uint8Array.from(packed).buffer)
    this.#marks = this.#marks.slice(0, this.count * marksPerEntry)
    this.#isPacked = true
  }

  /** The bytes of all entries. */
  unpacked(): Buffer {
    return this.#isPacked ? zstdDecompressSync(this.#bytes) : this.#bytes
  }

  #add(key: string, { revision, previous, replaces }: Place, start: number, length: number): void {
    const first = this.count * marksPerEntry
    if (first === this.#marks.length) {
      const longer = new Float64Array(first * 2)
      longer.set(this.#marks)
      this.#marks = longer
    }
    this.#marks[first + marks.revision] = revision
    this.#marks[first + marks.previous] = previous
    this.#marks[first + marks.replaces] = replaces
    this.#marks[first + marks.start] = start
    this.#marks[first + marks.length] = length
    this.#keys.push(key)
    this.#keyBytes += key.length
    this.length += length
  }

  /** Reserves space, and returns its start. */
  #reserve(length: number): number {
    const start = this.#used
    this.#used += length
    if (this.#used > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.#used, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, start)
      this.#bytes = larger
    }
    return start
  }
}
