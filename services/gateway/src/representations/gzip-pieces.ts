import { crc32 } from 'node:zlib'
import { deflateBehind, deflateBehindAtOnce, gzipHeader, gzipTrailer } from './gzip-member.ts'
import { type Joining, type Run, placesIn, runsOf } from './runs.ts'

/** A part of any compressed file in which the same bytes stand before it. */
interface Packed {
  readonly blocks: Uint8Array
  /** Bytes before they were compressed. */
  readonly length: number
  readonly crc: number
  /** By what the checksum of all that stands before is multiplied. */
  readonly shift: number
}

interface Kept {
  /** What stands before the piece. */
  readonly before: Uint8Array
  readonly packed: Packed | Promise<Packed>
}

/** Packed pieces that follow each other, joined. */
type PackedRun = Packed & Run<Packed>

const packedPieces = new WeakMap<Uint8Array, Kept>()
/** By the list of the pieces, as it is given. */
const files = new WeakMap<readonly Uint8Array[], Promise<readonly Uint8Array[]>>()
/** The newest list that begins with a piece, of which a newer one has most pieces. */
const newest = new WeakMap<Uint8Array, PackedList>()

interface PackedList {
  readonly pieces: readonly Uint8Array[]
  readonly packed: readonly Packed[]
  readonly runs: readonly PackedRun[]
}

const nothing = new Uint8Array()

/**
 * A gzip file of pieces that follow each other and, like their list, are kept for as long as they are what they are. What is kept of a
 * document stays the same bytes after a change of something else, so a piece is compressed once for the piece before it, beside the event
 * loop, and refers to that one: pieces of one document say much the same. Runs of pieces are joined, and their checksums, so that a change
 * concerns a few pieces and one run.
 *
 *   a b | c d e | f      d becomes D:      a b | c D e | f      compressed: D, and e behind it; joined: c D e
 */
export function gzipOfPieces(pieces: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const file = files.get(pieces) ?? makeFile(pieces)
  files.set(pieces, file)
  file.catch(() => files.delete(pieces))
  return file
}

async function makeFile(pieces: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const [first] = pieces
  const last = (first && newest.get(first)) ?? { pieces: [], packed: [], runs: [] }
  const packed = await packAll(pieces, last)
  const joined = runsOf(packed, { items: last.packed, runs: last.runs }, joining)
  if (first !== undefined) newest.set(first, { pieces, packed, runs: joined })
  const { crc, length } = sumOf(joined)
  return [gzipHeader, ...joined.map(({ blocks }) => blocks), gzipTrailer(crc, length)]
}

async function packAll(pieces: readonly Uint8Array[], last: PackedList): Promise<readonly Packed[]> {
  const places = placesIn(pieces, last.pieces)
  const known = pieces.map((piece, index) => {
    const at = places[index]
    const isBehindSame = at !== undefined && last.pieces[at - 1] === pieces[index - 1]
    return isBehindSame ? last.packed[at] : packedBefore(piece, pieces[index - 1])
  })
  const missing = known.flatMap((one, index) => (one === undefined ? [index] : []))
  const length = missing.reduce((sum, index) => sum + pieces[index]!.length, 0)
  const pack = missing.length <= atOnceMax && length <= atOnceBytesMax ? packAtOnce : packAside
  const packed: Packed[] = []
  for (const [index, one] of known.entries()) {
    const packing = one ?? packedBehind(pieces[index]!, pieces[index - 1] ?? nothing, pack)
    packed.push(packing instanceof Promise ? await packing : packing)
  }
  return packed
}

/** Of what a change leaves to compress: the way to another thread and back takes more than a few short pieces do. */
const atOnceMax = 4
const atOnceBytesMax = 128 * 1024

/** What is known of a piece behind another. */
function packedBefore(piece: Uint8Array, before: Uint8Array = nothing): Packed | Promise<Packed> | undefined {
  const known = packedPieces.get(piece)
  return known?.before === before ? known.packed : undefined
}

function packedBehind(piece: Uint8Array, before: Uint8Array, pack: Pack): Packed | Promise<Packed> {
  const packing = pack(piece, before)
  const kept: Kept = { before, packed: packing }
  packedPieces.set(piece, kept)
  if (!(packing instanceof Promise)) return packing
  // Meanwhile it may have been asked for behind another one.
  const isKept = () => packedPieces.get(piece) === kept
  packing.then(
    (packed) => void (isKept() && packedPieces.set(piece, { before, packed })),
    () => void (isKept() && packedPieces.delete(piece)),
  )
  return packing
}

type Pack = (piece: Uint8Array, before: Uint8Array) => Packed | Promise<Packed>

function packAtOnce(piece: Uint8Array, before: Uint8Array): Packed {
  return packedOf(piece, deflateBehindAtOnce(piece, before))
}

async function packAside(piece: Uint8Array, before: Uint8Array): Promise<Packed> {
  return packedOf(piece, await deflateBehind(piece, before))
}

function packedOf(piece: Uint8Array, deflated: Uint8Array): Packed {
  // The library's own buffer is larger than what is in it.
  return { blocks: new Uint8Array(deflated), length: piece.length, crc: crc32(piece), shift: shiftBy(piece.length) }
}

/** One of 32 pieces ends a run. */
const runMask = 31

const joining: Joining<Packed, PackedRun> = {
  isEnd: ({ crc }) => (crc & runMask) === 0,
  join: (pieces) => ({ items: pieces, blocks: Buffer.concat(pieces.map(({ blocks }) => blocks)), ...sumOf(pieces) }),
}

/** The checksum of parts that follow each other. */
function sumOf(parts: readonly Packed[]): Pick<Packed, 'crc' | 'length' | 'shift'> {
  let crc = 0
  let length = 0
  let shift = one
  for (const part of parts) {
    crc = multiply(part.shift, crc) ^ part.crc
    shift = multiply(part.shift, shift)
    length += part.length
  }
  return { crc, length, shift }
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
