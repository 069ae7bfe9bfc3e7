import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Revision } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { LogEntry } from './tables.ts'

/** The numbers of an entry: its place in the log, and its bytes in the page. */
const marks = { revision: 0, previous: 1, replaces: 2, start: 3, length: 4 } as const
const marksPerEntry = 5

type Place = Pick<LogEntry, 'revision' | 'previous' | 'replaces'>

/** The cause of an entry. */
type Note = Pick<LogEntry, 'writeId' | 'timeMs' | 'origin'>

/** An entry without its place and its key. */
type Content = Note & Pick<LogEntry, 'value'>

/**
 * The content of an entry as bytes, little endian: u8 kind (0 delete, 1 put), u8 write id's bytes, u8 request's bytes, u16 user's bytes, f64 time
 * (0: not known), then write id, request, user and value.
 */
const headerBytes = 13
const [deletion, put] = [0, 1]

/** The content of deletions without an origin that were committed together, and its place in the page. */
interface SharedContent extends Pick<Content, 'writeId' | 'timeMs'> {
  readonly start: number
}

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
  #shared: SharedContent | undefined

  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(limits.firstLogPageBytes)) {
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

  /** True if most bytes belong to entries that a page before it had. */
  get isThin(): boolean {
    return this.length < this.#used / 2
  }

  /** Appends an entry, whose key should be the string of other entries of the key. False if the page has no room for it. */
  append(entry: LogEntry, key: string): boolean {
    const { writeId, timeMs, origin, value } = entry
    const length = contentBytes(entry)
    // Shared content counts for each entry, since a removal lists the entries of a page anew.
    if (this.length + length > (this.count < limits.logPageEntries ? limits.largeLogPageBytes : limits.logPageBytes) && this.count > 0)
      return false
    const isShareable = value === undefined && origin === undefined
    const shared = isShareable ? this.#shared : undefined
    if (shared?.writeId === writeId && shared.timeMs === timeMs) {
      this.#add(key, entry, shared.start, length)
      return true
    }
    const start = this.#reserve(length)
    writeContent(entry, this.#bytes, start)
    this.#add(key, entry, start, length)
    if (isShareable) this.#shared = { writeId, timeMs, start }
    return true
  }

  /** The value of an entry, as a view of the unpacked bytes; undefined for a deletion. */
  valueOf(index: number, bytes: Buffer): Uint8Array | undefined {
    const start = this.mark(index, 'start')
    if (bytes[start] === deletion) return undefined
    const valueStart = start + headerBytes + bytes.readUInt8(start + 1) + bytes.readUInt8(start + 2) + bytes.readUInt16LE(start + 3)
    // A plain array and its views are faster to create than a Buffer.
    return new Uint8Array(bytes.buffer, bytes.byteOffset + valueStart, start + this.mark(index, 'length') - valueStart)
  }

  /** The content of an entry without its value, from the unpacked bytes. */
  noteOf(index: number, bytes: Buffer): Note {
    const start = this.mark(index, 'start')
    const idEnd = start + headerBytes + bytes.readUInt8(start + 1)
    const requestEnd = idEnd + bytes.readUInt8(start + 2)
    const userEnd = requestEnd + bytes.readUInt16LE(start + 3)
    const timeMs = bytes.readDoubleLE(start + 5)
    return {
      writeId: bytes.toString('utf8', start + headerBytes, idEnd),
      timeMs: timeMs === 0 ? undefined : timeMs,
      origin:
        idEnd === userEnd
          ? undefined
          : { request: bytes.toString('utf8', idEnd, requestEnd), user: bytes.toString('utf8', requestEnd, userEnd) },
    }
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

function contentBytes({ writeId, value, origin }: Content): number {
  const originBytes = origin === undefined ? 0 : Buffer.byteLength(origin.request) + Buffer.byteLength(origin.user)
  return headerBytes + Buffer.byteLength(writeId) + originBytes + (value?.length ?? 0)
}

function writeContent({ writeId, timeMs = 0, origin, value }: Content, bytes: Buffer, start: number): void {
  const idBytes = bytes.write(writeId, start + headerBytes)
  let at = start + headerBytes + idBytes
  const requestBytes = origin === undefined ? 0 : bytes.write(origin.request, at)
  at += requestBytes
  const userBytes = origin === undefined ? 0 : bytes.write(origin.user, at)
  bytes[start] = value === undefined ? deletion : put
  bytes[start + 1] = idBytes
  bytes[start + 2] = requestBytes
  bytes.writeUInt16LE(userBytes, start + 3)
  bytes.writeDoubleLE(timeMs, start + 5)
  if (value !== undefined) bytes.set(value, at + userBytes)
}
