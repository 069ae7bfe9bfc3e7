import { crc32 } from 'node:zlib'
import { deflateBehind, gzipHeader, gzipTrailer } from './gzip-member.ts'

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
interface Run extends Packed {
  readonly pieceCount: number
}

const packedPieces = new WeakMap<Uint8Array, Kept>()
/** By the list of the pieces, as it is given. */
const files = new WeakMap<readonly Uint8Array[], Promise<readonly Uint8Array[]>>()
/** The newest list that begins with a piece, of which a newer one has most pieces. */
const newest = new WeakMap<Uint8Array, PackedList>()

interface PackedList {
  readonly pieces: readonly Uint8Array[]
  readonly packed: readonly Packed[]
  readonly runs: readonly Run[]
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
  const joined = runsOf(packed, last)
  if (first !== undefined) newest.set(first, { pieces, packed, runs: joined })
  const { crc, length } = sumOf(joined)
  return [gzipHeader, ...joined.map(({ blocks }) => blocks), gzipTrailer(crc, length)]
}

async function packAll(pieces: readonly Uint8Array[], last: PackedList): Promise<readonly Packed[]> {
  const { front, back } = sameEnds(pieces, last.pieces)
  const packed = last.packed.slice(0, front)
  // The first piece behind what has changed stands behind another one now.
  const end = Math.min(pieces.length, pieces.length - back + 1)
  for (let index = front; index < end; index++) {
    const known = packedBehind(pieces[index]!, pieces[index - 1] ?? nothing)
    packed.push(known instanceof Promise ? await known : known)
  }
  return packed.concat(last.packed.slice(last.packed.length - pieces.length + end))
}

/** How many items two lists have in common at their front, and how many of the others at their back. */
function sameEnds<T>(pieces: readonly T[], before: readonly T[]): { readonly front: number; readonly back: number } {
  const shorter = Math.min(pieces.length, before.length)
  let front = 0
  while (front < shorter && pieces[front] === before[front]) front++
  let back = 0
  while (back < shorter - front && pieces[pieces.length - 1 - back] === before[before.length - 1 - back]) back++
  return { front, back }
}

function packedBehind(piece: Uint8Array, before: Uint8Array): Packed | Promise<Packed> {
  const known = packedPieces.get(piece)
  if (known?.before === before) return known.packed
  const packing = pack(piece, before)
  const kept: Kept = { before, packed: packing }
  packedPieces.set(piece, kept)
  // Meanwhile it may have been asked for behind another one.
  const isKept = () => packedPieces.get(piece) === kept
  packing.then(
    (packed) => void (isKept() && packedPieces.set(piece, { before, packed })),
    () => void (isKept() && packedPieces.delete(piece)),
  )
  return packing
}

async function pack(piece: Uint8Array, before: Uint8Array): Promise<Packed> {
  // The library's own buffer is larger than what is in it.
  const blocks = new Uint8Array(await deflateBehind(piece, before))
  return { blocks, length: piece.length, crc: crc32(piece), shift: shiftBy(piece.length) }
}

/** Where a run ends follows from its last piece alone, so that what comes or goes elsewhere changes no other run: one of 32 pieces ends one. */
const runMask = 31

function runsOf(packed: readonly Packed[], last: PackedList): Run[] {
  const { front, back } = sameEnds(packed, last.packed)
  // What ended with the list may go on now.
  const before = runsWithin(last.runs.slice(0, -1), front)
  const behind = runsWithin(last.runs.toReversed(), back).reverse()
  const end = packed.length - piecesIn(behind)
  const between: Run[] = []
  let from = piecesIn(before)
  for (let index = from; index < end; index++) {
    if ((packed[index]!.crc & runMask) !== 0 && index < end - 1) continue
    between.push(runOf(packed.slice(from, index + 1)))
    from = index + 1
  }
  return [...before, ...between, ...behind]
}

/** The first runs that have no more pieces than so many. */
function runsWithin(runs: readonly Run[], piecesMax: number): Run[] {
  let pieces = 0
  const behind = runs.findIndex((run) => {
    pieces += run.pieceCount
    return pieces > piecesMax
  })
  return behind < 0 ? [...runs] : runs.slice(0, behind)
}

function piecesIn(runs: readonly Run[]): number {
  return runs.reduce((sum, { pieceCount }) => sum + pieceCount, 0)
}

function runOf(pieces: readonly Packed[]): Run {
  return { pieceCount: pieces.length, blocks: Buffer.concat(pieces.map(({ blocks }) => blocks)), ...sumOf(pieces) }
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
