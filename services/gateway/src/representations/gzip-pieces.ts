import { crc32 } from 'node:zlib'
import { at } from '@orch/core/json'
import { deflateBehind, deflateBehindAtOnce, gzipHeader, gzipTrailer } from './gzip-member.ts'

/** A part of any compressed file in which the same bytes stand before it. */
interface Packed {
  readonly blocks: Uint8Array
  /** Bytes before they were compressed. */
  readonly length: number
  readonly crc: number
  /** By what the checksum of all that stands before is multiplied. */
  readonly shift: number
}

interface Kept<T> {
  /** The piece before. */
  readonly before: Uint8Array
  readonly packed: T
}

/** Lists of pieces that follow each other. */
export type Pieces = readonly (readonly Uint8Array[])[]

const packedPieces = new WeakMap<Uint8Array, Kept<Packed | Promise<Packed>>>()
const packedLists = new WeakMap<readonly Uint8Array[], Kept<Packed>>()
/** By what is given. */
const files = new WeakMap<Pieces, Promise<readonly Uint8Array[]>>()

const nothing = new Uint8Array()

/**
 * A gzip file of consecutive pieces. Callers keep unchanged pieces and lists as the same values. A piece is compressed once for the piece
 * before it, and refers to that one, since the pieces of a document are alike. A list is joined once for the piece before it, with its
 * checksum.
 *
 *   a b | c d e | f      d becomes D:      a b | c D e | f      compressed: D, and e behind it; joined: c D e
 */
export function gzipOfPieces(pieces: Pieces): Promise<readonly Uint8Array[]> {
  const file = files.get(pieces) ?? makeFile(pieces)
  files.set(pieces, file)
  file.catch(() => files.delete(pieces))
  return file
}

async function makeFile(lists: Pieces): Promise<readonly Uint8Array[]> {
  const packer = new Packer()
  const joined: Packed[] = []
  let before: Uint8Array = nothing
  for (const list of lists) {
    const known = packedLists.get(list)
    joined.push(known?.before === before ? known.packed : await packer.packList(list, before))
    before = list.at(-1) ?? before
  }
  const { crc, length } = sumOf(joined)
  return [gzipHeader, ...joined.map(({ blocks }) => blocks), gzipTrailer(crc, length)]
}

/** Compresses the pieces of one file. */
class Packer {
  #atOnceLeft = atOnceMax

  async packList(list: readonly Uint8Array[], before: Uint8Array): Promise<Packed> {
    const parts: Packed[] = []
    for (const [index, piece] of list.entries()) {
      const previous = list[index - 1] ?? before
      const packing = packedBehind(piece, previous) ?? this.#pack(piece, previous)
      // One after the other: each takes a quarter of a megabyte while it is compressed.
      parts.push(packing instanceof Promise ? await packing : packing)
    }
    const packed = joinedOf(parts)
    packedLists.set(list, { before, packed })
    return packed
  }

  #pack(piece: Uint8Array, before: Uint8Array): Packed | Promise<Packed> {
    if (piece.length > atOnceBytesMax || this.#atOnceLeft === 0) return packedAside(piece, before)
    this.#atOnceLeft -= 1
    const packed = packedOf(piece, deflateBehindAtOnce(piece, before))
    packedPieces.set(piece, { before, packed })
    return packed
  }
}

/** Pieces of a file that are compressed on the event loop: for a few short ones, another thread costs more than it saves. */
const atOnceMax = 4
const atOnceBytesMax = 32 * 1024

/** The compressed form of a piece behind another one, if it is known. */
function packedBehind(piece: Uint8Array, before: Uint8Array): Packed | Promise<Packed> | undefined {
  const known = packedPieces.get(piece)
  return known?.before === before ? known.packed : undefined
}

/** Compresses a piece beside the event loop. */
function packedAside(piece: Uint8Array, before: Uint8Array): Promise<Packed> {
  const packing = packAside(piece, before)
  const kept = { before, packed: packing }
  packedPieces.set(piece, kept)
  // Meanwhile the piece may be in use behind another one.
  const isKept = () => packedPieces.get(piece) === kept
  packing.then(
    (packed) => void (isKept() && packedPieces.set(piece, { before, packed })),
    () => void (isKept() && packedPieces.delete(piece)),
  )
  return packing
}

async function packAside(piece: Uint8Array, before: Uint8Array): Promise<Packed> {
  return packedOf(piece, await deflateBehind(piece, before))
}

function packedOf(piece: Uint8Array, deflated: Uint8Array): Packed {
  // The library's own buffer is larger than what is in it.
  return { blocks: new Uint8Array(deflated), length: piece.length, crc: crc32(piece), shift: shiftBy(piece.length) }
}

function joinedOf(parts: readonly Packed[]): Packed {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const { crc, length } = sumOf(parts)
  return { blocks: Buffer.concat(parts.map(({ blocks }) => blocks)), length, crc, shift: shiftBy(length) }
}

/** The checksum of parts that follow each other. */
function sumOf(parts: readonly Packed[]): Pick<Packed, 'crc' | 'length'> {
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

/** x to the power of 8, 16, 32 and so on, as far as they have been needed. */
const powers = [eighthPower]

/** x to the power of eight times a number of bytes. */
function shiftBy(byteCount: number): number {
  let shift = one
  for (let left = byteCount, index = 0; left > 0; left = Math.floor(left / 2), index++) {
    const power = powers[index] ?? squared(at(powers, index - 1))
    powers[index] = power
    if (left % 2 === 1) shift = multiply(power, shift)
  }
  return shift
}

function squared(power: number): number {
  return multiply(power, power)
}
