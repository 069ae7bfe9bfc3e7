import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ManifestError } from '@orch/client'
import type { Pause } from '@orch/platform'

/** The number at byte 16 of a bbolt file. */
const magic = 0xed0cdaed
const supportedVersion = 2
const headerBytes = 16
const elementBytes = 16
/** The head of a bucket's value: root page and counter. */
const bucketHeadBytes = 16
/** Flags of a page, and of an element of a leaf. */
const branchPage = 0x01
const leafPage = 0x02
const bucketElement = 0x01
/** etcdctl appends this digest to a snapshot. A page has at least this many bytes. */
const digestBytes = 32
const pageBytesMin = 512
/** The page size is that of the system that wrote the file. */
const pageBytesMax = 1024 * 1024
/** Maximum depth of a tree: a deeper tree would have more keys than a file has bytes. */
const levelsMax = 32

/** True for a bbolt file, the format of etcd's data. */
export function isBoltFile(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(headerBytes + 4)
    return readSync(file, head, 0, head.length, 0) === head.length && head.readUInt32LE(headerBytes) === magic
  } finally {
    closeSync(file)
  }
}

/** A key, and the location of its value in the file. */
export interface BoltEntry {
  readonly key: Buffer
  readonly value: Buffer
  /** The position of the value in the file. */
  readonly at: number
}

/**
 * A file of bbolt, read page by page: a tree of pages for each bucket, whose leaves have keys and values in order.
 *
 *   page    u64 id, u16 flags, u16 count, u32 overflow (pages that follow it and belong to it)
 *   branch  per child: u32 pos, u32 key's bytes, u64 page
 *   leaf    per element: u32 flags, u32 pos, u32 key's bytes, u32 value's bytes; a bucket is an element whose value begins with its root page
 */
export class BoltFile {
  readonly #path: string
  readonly #file: number
  readonly #pageBytes: number
  readonly #bytes: number
  readonly #root: bigint
  /** In a complete file each page occurs once in the tree below its root, and each byte in one element. */
  #pagesRead = 0
  #elementBytes = 0

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'r')
    this.#bytes = fstatSync(this.#file).size
    try {
      const { pageBytes, root } = this.#readMeta()
      this.#pageBytes = pageBytes
      this.#root = root
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    closeSync(this.#file)
  }

  /** The entries of a bucket, in the order of their keys. */
  *bucket(name: string): Generator<BoltEntry, void, undefined> {
    this.#pagesRead = 0
    this.#elementBytes = 0
    for (const { key, value, isBucket } of this.#elementsBelow(this.#root, 0)) {
      if (!isBucket || key.toString() !== name) continue
      if (value.length < bucketHeadBytes) throw this.#damaged('a bucket has no head')
      const root = value.readBigUInt64LE(0)
      // A small bucket is stored in its element, as a page without a number.
      if (root === 0n) yield* this.#leafElements(value.subarray(bucketHeadBytes), 0)
      else yield* this.#elementsBelow(root, 0)
    }
  }

  /** Bytes of the file. */
  read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    if (readSync(this.#file, bytes, 0, length, at) !== length) throw this.#damaged(`it ends before byte ${at + length}`)
    return bytes
  }

  /** The valid meta page is the one with the later transaction; the other may be incomplete. */
  #readMeta(): { readonly pageBytes: number; readonly root: bigint } {
    const pageBytes = this.read(headerBytes + 8, 4).readUInt32LE(0)
    if (pageBytes < pageBytesMin || pageBytes > pageBytesMax) throw this.#damaged(`its pages have ${pageBytes} bytes`)
    const copies = [0, pageBytes].flatMap((at) => {
      const meta = this.read(at + headerBytes, 64)
      const isWhole = meta.readUInt32LE(0) === magic && meta.readBigUInt64LE(56) === fnv64(meta.subarray(0, 56))
      return isWhole ? [meta] : []
    })
    const [first, second] = copies
    const last = second !== undefined && second.readBigUInt64LE(48) > (first?.readBigUInt64LE(48) ?? 0n) ? second : first
    if (last === undefined) throw this.#damaged('neither copy of its first page is whole')
    if (last.readUInt32LE(4) !== supportedVersion)
      throw this.#damaged(`its format is ${last.readUInt32LE(4)}, expected ${supportedVersion}`)
    return { pageBytes, root: last.readBigUInt64LE(16) }
  }

  /** Throws for a file that has changed since it was written. A copy of the database file has no digest. */
  async checkDigest(pause: Pause): Promise<void> {
    if (this.#bytes % pageBytesMin !== digestBytes) return
    const hash = createHash('sha256')
    const end = this.#bytes - digestBytes
    for (let at = 0; at < end; at += hashedBytes) {
      await pause()
      hash.update(this.read(at, Math.min(hashedBytes, end - at)))
    }
    if (!hash.digest().equals(this.read(end, digestBytes))) throw this.#damaged('its bytes are not those of its checksum')
  }

  *#elementsBelow(id: bigint, level: number): Generator<LeafElement, void, undefined> {
    const at = Number(id) * this.#pageBytes
    if (at + this.#pageBytes > this.#bytes) throw this.#damaged(`page ${id} goes beyond its end`)
    const header = this.read(at, headerBytes)
    const [flags, count, overflow] = [header.readUInt16LE(8), header.readUInt16LE(10), header.readUInt32LE(12)]
    const length = (1 + overflow) * this.#pageBytes
    this.#pagesRead += 1 + overflow
    if (level > levelsMax || this.#pagesRead > this.#bytes / this.#pageBytes) throw this.#damaged('its pages form a circle or overlap')
    if (at + length > this.#bytes) throw this.#damaged(`page ${id} goes beyond its end`)
    const page = this.read(at, length)
    if (flags === leafPage) yield* this.#leafElements(page, at)
    else if (flags !== branchPage) throw this.#damaged(`page ${id} is neither a branch nor a leaf`)
    else
      for (let index = 0; index < count; index += 1)
        yield* this.#elementsBelow(page.readBigUInt64LE(headerBytes + index * elementBytes + 8), level + 1)
  }

  *#leafElements(page: Buffer, at: number): Generator<LeafElement, void, undefined> {
    const count = page.length < headerBytes ? 0 : page.readUInt16LE(10)
    if (headerBytes + count * elementBytes > page.length) throw this.#damaged('a page has more elements than room')
    for (let index = 0; index < count; index += 1) {
      const start = headerBytes + index * elementBytes
      const keyStart = start + page.readUInt32LE(start + 4)
      const valueStart = keyStart + page.readUInt32LE(start + 8)
      const end = valueStart + page.readUInt32LE(start + 12)
      if (end > page.length) throw this.#damaged('an element goes beyond its page')
      this.#elementBytes += end - keyStart
      if (this.#elementBytes > this.#bytes) throw this.#damaged('its elements overlap')
      yield {
        key: page.subarray(keyStart, valueStart),
        value: page.subarray(valueStart, end),
        at: at + valueStart,
        isBucket: (page.readUInt32LE(start) & bucketElement) !== 0,
      }
    }
  }

  #damaged(why: string): ManifestError {
    return new ManifestError(`${this.#path}: the snapshot of etcd is damaged: ${why}`)
  }
}

const hashedBytes = 1024 * 1024

interface LeafElement extends BoltEntry {
  readonly isBucket: boolean
}

/** FNV-1a of 64 bits. */
function fnv64(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return hash
}
