import { crc32 } from 'node:zlib'
import { deflateBehind, deflateBehindAtOnce, gzipHeader, gzipTrailer } from './gzip-member.ts'
import { endsRun, type RunItem, Runs } from './runs.ts'

/** A compressed part of any file in which the same bytes precede it. */
interface Packed extends RunItem {
  readonly blocks: Uint8Array
  /** Bytes before they were compressed. */
  readonly length: number
  readonly crc: number
  /** The factor for the checksum of all earlier bytes. */
  readonly shift: number
}

interface Kept {
  /** The piece before. */
  readonly before: Uint8Array
  readonly packed: Packed | Promise<Packed>
}

/** Pieces of a document that follow each other. */
export type Pieces = readonly Uint8Array[]

/**
 * Compresses documents with cached pieces. A piece is compressed once for the previous piece, and refers to it, since the pieces of a document are
 * similar.
 *
 *   a b c      b becomes B:      a B c      compressed: B, and c after it
 *
 * Compressed pieces are joined in runs, with their checksums, so that a file is written in few chunks.
 */
export class PiecePacker {
  readonly #packed = new WeakMap<Uint8Array, Kept>()
  readonly #runs = new Runs(joinedOf)
  readonly #files = new WeakMap<Pieces, Promise<Pieces>>()

  /** A gzip file of consecutive pieces, in pieces. */
  gzip(pieces: Pieces): Promise<Pieces> {
    const file = this.#files.get(pieces) ?? this.#makeFile(pieces)
    this.#files.set(pieces, file)
    file.catch(() => this.#files.delete(pieces))
    return file
  }

  async #makeFile(pieces: Pieces): Promise<Pieces> {
    let atOnceLeft = atOnceMax
    let before: Uint8Array = nothing
    const parts: Packed[] = []
    for (const piece of pieces) {
      const known = this.#packed.get(piece)
      const isAtOnce = piece.length <= atOnceBytesMax && atOnceLeft > 0
      const packing = known?.before === before ? known.packed : this.#pack(piece, before, isAtOnce)
      if (isAtOnce && packing !== known?.packed) atOnceLeft -= 1
      // In sequence, as each takes a quarter of a megabyte while it is compressed.
      parts.push(packing instanceof Promise ? await packing : packing)
      before = piece
    }
    const runs = this.#runs.of(parts)
    const { crc, length } = sumOf(runs)
    return [gzipHeader, ...runs.map(({ blocks }) => blocks), gzipTrailer(crc, length)]
  }

  #pack(piece: Uint8Array, before: Uint8Array, isAtOnce: boolean): Packed | Promise<Packed> {
    const packed = isAtOnce ? packedOf(piece, deflateBehindAtOnce(piece, before)) : this.#packAside(piece, before)
    this.#packed.set(piece, { before, packed })
    return packed
  }

  /** Compresses a piece outside of the event loop. */
  async #packAside(piece: Uint8Array, before: Uint8Array): Promise<Packed> {
    // Meanwhile the piece may be used after another one.
    const isKept = () => this.#packed.get(piece)?.before === before
    try {
      const packed = packedOf(piece, await deflateBehind(piece, before))
      if (isKept()) this.#packed.set(piece, { before, packed })
      return packed
    } catch (error) {
      if (isKept()) this.#packed.delete(piece)
      throw error
    }
  }
}

const nothing = new Uint8Array()

/** Maximum pieces of a file compressed on the event loop: for a few short ones, another thread costs more than it saves. */
const atOnceMax = 4
const atOnceBytesMax = 32 * 1024

function packedOf(piece: Uint8Array, deflated: Uint8Array): Packed {
  // The library's own buffer is larger than its contents.
  const [blocks, crc] = [new Uint8Array(deflated), crc32(piece)]
  return { blocks, length: piece.length, crc, shift: shiftBy(piece.length), isEnd: endsRun(crc) }
}

function joinedOf(parts: readonly Packed[]): Omit<Packed, 'isEnd'> {
  const { crc, length } = sumOf(parts)
  return { blocks: Buffer.concat(parts.map(({ blocks }) => blocks)), length, crc, shift: shiftBy(length) }
}

/** The checksum of parts that follow each other. */
function sumOf(parts: readonly Omit<Packed, 'blocks' | 'isEnd'>[]): Pick<Packed, 'crc' | 'length'> {
  let crc = 0
  let length = 0
  for (const part of parts) {
    crc = multiply(part.shift, crc) ^ part.crc
    length += part.length
  }
  return { crc, length }
}

/** Checksums are polynomials over two elements, the highest power in the lowest bit, modulo this one. */
const polynomial = 0xedb88320

/** The product of two of them. */
function multiply(left: number, right: number): number {
  let product = 0
  let power = right
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) product ^= power
    power = (power & 1) === 0 ? power >>> 1 : (power >>> 1) ^ polynomial
  }
  return product
}

const one = 0x80000000
const eighthPower = 0x00800000

/** x to the power of eight times a number of bytes. */
function shiftBy(byteCount: number): number {
  let shift = one
  let power = eighthPower
  for (let left = byteCount; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift)
    power = multiply(power, power)
  }
  return shift
}
