import { crc32 } from 'node:zlib'
import { limits } from '../limits.ts'
import { deflateBlocks, gzipHeader, gzipTrailer } from './gzip-member.ts'

/** A piece as a part of any compressed file. */
interface PackedPiece {
  readonly blocks: Uint8Array
  readonly crc: number
  /** By what the checksum of all that stands before the piece is multiplied. */
  readonly shift: number
}

const packedPieces = new WeakMap<Uint8Array, PackedPiece | Promise<PackedPiece>>()

/**
 * A gzip file of pieces that follow each other. What is kept of a document stays the same bytes after a change of something else, so each
 * piece is compressed once, beside the event loop, and its blocks stand in all files that have it.
 */
export async function gzipOfPieces(pieces: Iterable<Uint8Array>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  let waiting: Uint8Array[] = [gzipHeader]
  let waitingBytes = 0
  let crc = 0
  let length = 0
  for (const piece of pieces) {
    const known = packedPieces.get(piece) ?? pack(piece)
    const { blocks, shift, crc: own } = known instanceof Promise ? await known : known
    crc = multiply(shift, crc) ^ own
    length += piece.length
    waiting.push(blocks)
    waitingBytes += blocks.length
    if (waitingBytes < limits.listChunkBytes) continue
    chunks.push(Buffer.concat(waiting))
    waiting = []
    waitingBytes = 0
  }
  chunks.push(Buffer.concat([...waiting, gzipTrailer(crc, length)]))
  return chunks
}

function pack(piece: Uint8Array): Promise<PackedPiece> {
  const packed = packedPiece(piece)
  packedPieces.set(piece, packed)
  packed.then(
    (known) => packedPieces.set(piece, known),
    () => packedPieces.delete(piece),
  )
  return packed
}

async function packedPiece(piece: Uint8Array): Promise<PackedPiece> {
  // The library's own buffer is larger than what is in it.
  const blocks = new Uint8Array(await deflateBlocks(piece))
  return { blocks, crc: crc32(piece), shift: shiftBy(piece.length) }
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
