import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** A value in compact form: its difference from a later version, or the deflated value. */
export interface PackedValue {
  readonly kind: 'difference' | 'deflated'
  readonly bytes: Uint8Array
}

/** The number of bytes that are matched in the base at once. A smaller change costs no more than its own bytes. */
const blockBytes = 32

/** Packs a value. With a base, keeps only the difference; the reader then needs the base again. */
export function packValue(value: Uint8Array, base: Uint8Array | undefined): PackedValue {
  if (base === undefined) return { kind: 'deflated', bytes: copied(deflateRawSync(value, { level: 1 })) }
  return { kind: 'difference', bytes: differenceOf(bufferOf(value), bufferOf(base)) }
}

/** The original value. Calls `base` only if needed. */
export function unpackValue({ kind, bytes }: PackedValue, base: () => Uint8Array | undefined): Uint8Array {
  if (kind === 'deflated') return inflateRawSync(bytes)
  const from = base()
  if (from === undefined) throw new Error('the later version of a packed value is gone')
  return applied(bufferOf(bytes), bufferOf(from))
}

/**
 * Steps that build a value from its base: u32 offset and length of a copy from the base, u32 length of new bytes, and the new bytes.
 *
 *   base {"size":1,"color":"red"}, value {"size":2,"color":"red"}   →   copy 0 8, "2"   copy 9 15, ""
 */
function differenceOf(value: Buffer, base: Buffer): Uint8Array {
  const start = commonStart(value, base)
  const most = Math.min(value.length, base.length) - start
  const end = commonEnd(value, base, most)
  const steps = new Steps(value)
  if (start > 0) steps.copy(0, start)
  addMiddle(steps, { value, base, start, valueEnd: value.length - end, baseEnd: base.length - end })
  if (end > 0) steps.copy(base.length - end, end)
  return copied(steps.finish())
}

interface Middle {
  readonly value: Buffer
  readonly base: Buffer
  /** The middle of both begins here. */
  readonly start: number
  readonly valueEnd: number
  readonly baseEnd: number
}

/** Finds parts of the base's middle in the value's middle by a rolling hash of the value. */
function addMiddle(steps: Steps, { value, base, start, valueEnd, baseEnd }: Middle): void {
  if (valueEnd - start < blockBytes || baseEnd - start < blockBytes) {
    steps.insert(start, valueEnd)
    return
  }
  const places = new BlockPlaces(base, start, baseEnd)
  let inserted = start
  let at = start
  let hash = hashOf(value, at)
  while (at + blockBytes <= valueEnd) {
    const place = places.find(hash)
    const length = place < 0 ? 0 : commonStart(value.subarray(at, valueEnd), base.subarray(place, baseEnd))
    if (length >= blockBytes) {
      steps.insert(inserted, at)
      steps.copy(place, length)
      at += length
      inserted = at
      if (at + blockBytes <= valueEnd) hash = hashOf(value, at)
    } else {
      hash = rolled(hash, value[at] ?? 0, value[at + blockBytes] ?? 0)
      at++
    }
  }
  steps.insert(inserted, valueEnd)
}

/** The positions of the base's blocks by hash. */
class BlockPlaces {
  readonly #slots: Int32Array
  readonly #mask: number

  constructor(base: Buffer, start: number, end: number) {
    const blocks = Math.floor((end - start) / blockBytes)
    this.#mask = 2 ** Math.ceil(Math.log2(blocks * 2 + 1)) - 1
    this.#slots = new Int32Array(this.#mask + 1)
    for (let at = start; at + blockBytes <= end; at += blockBytes) {
      const slot = hashOf(base, at) & this.#mask
      // The first of several equal blocks.
      if (this.#slots[slot] === 0) this.#slots[slot] = at + 1
    }
  }

  /** -1 if no block matches. Different blocks may have equal hashes. */
  find(hash: number): number {
    return (this.#slots[hash & this.#mask] ?? 0) - 1
  }
}

const factor = 0x01_00_01_93
/** The factor to the power of the block size in bytes. */
const leaving = powerOf(factor, blockBytes)

function powerOf(base: number, exponent: number): number {
  let power = 1
  for (let step = 0; step < exponent; step++) power = Math.imul(power, base)
  return power
}

function hashOf(bytes: Buffer, start: number): number {
  let hash = 0
  for (let at = start; at < start + blockBytes; at++) hash = (Math.imul(hash, factor) + (bytes[at] ?? 0)) | 0
  return hash
}

/** The hash of the block one byte further. */
function rolled(hash: number, left: number, entered: number): number {
  return (Math.imul(hash, factor) + entered - Math.imul(left, leaving)) | 0
}

const stepBytes = 12

/** Writes steps. New bytes belong to the preceding copy. */
class Steps {
  readonly #value: Buffer
  readonly #parts: Buffer[] = []
  #last: Buffer | undefined

  constructor(value: Buffer) {
    this.#value = value
  }

  copy(offset: number, length: number): void {
    const head = Buffer.alloc(stepBytes)
    head.writeUInt32LE(offset, 0)
    head.writeUInt32LE(length, 4)
    this.#last = head
    this.#parts.push(head)
  }

  /** Bytes of the value. */
  insert(start: number, end: number): void {
    if (end <= start) return
    if (this.#last === undefined || this.#last.readUInt32LE(8) > 0) this.copy(0, 0)
    this.#last?.writeUInt32LE(end - start, 8)
    this.#parts.push(this.#value.subarray(start, end))
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

function applied(steps: Buffer, base: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < steps.length; ) {
    const [offset, length, inserted] = [steps.readUInt32LE(at), steps.readUInt32LE(at + 4), steps.readUInt32LE(at + 8)]
    at += stepBytes
    parts.push(base.subarray(offset, offset + length), steps.subarray(at, at + inserted))
    at += inserted
  }
  return Buffer.concat(parts)
}

/** The bytes compared at once. */
const comparedBytes = 1_024

function commonStart(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at + comparedBytes <= most && a.compare(b, at, at + comparedBytes, at, at + comparedBytes) === 0) at += comparedBytes
  while (at < most && a[at] === b[at]) at++
  return at
}

/** The number of equal bytes at the ends, at most `most`. */
function commonEnd(a: Buffer, b: Buffer, most: number): number {
  let count = 0
  const isEqual = (from: number, to: number) => a.compare(b, b.length - to, b.length - from, a.length - to, a.length - from) === 0
  while (count + comparedBytes <= most && isEqual(count, count + comparedBytes)) count += comparedBytes
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count++
  return count
}

/** A separate buffer: in Node.js' pool, a few bytes would keep everything beside them alive, such as a request body. */
function copied(bytes: Buffer): Uint8Array {
  return new Uint8Array(bytes)
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}
