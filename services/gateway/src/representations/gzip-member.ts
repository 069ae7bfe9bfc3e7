import { promisify } from 'node:util'
import { constants, deflateRaw, deflateRawSync, type ZlibOptions } from 'node:zlib'

/** The bytes before the blocks of a member of gzip (RFC 1952, section 2.3): deflate, no name, no time, an unknown system. */
export const gzipHeader: Uint8Array = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)

/**
 * The end of a member: an empty block that is the last one (RFC 1951, section 3.2.6), the checksum of the member's contents, and their
 * length in bytes modulo 2^32.
 */
export function gzipTrailer(crc: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(10)
  bytes.writeUInt8(3, 0)
  bytes.writeUInt32LE(crc >>> 0, 2)
  bytes.writeUInt32LE(length % 2 ** 32, 6)
  return bytes
}

const deflate = promisify<Uint8Array, object, Buffer>(deflateRaw)

/** Largest distance of a reference in deflate (RFC 1951, section 2). */
const windowBytes = 32 * 1024

/** Blocks that end at a byte boundary and refer to nothing before them, so that any blocks may follow; compressed outside of the event loop. */
export function deflateBlocks(bytes: Uint8Array): Promise<Uint8Array> {
  return deflate(bytes, { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH })
}

/**
 * Like `deflateBlocks`, for bytes that are compressed once and sent often: as small as possible, with references to the previous bytes, which must
 * precede the blocks in every file.
 */
export function deflateBehind(bytes: Uint8Array, before: Uint8Array): Promise<Uint8Array> {
  return deflate(bytes, optionsBehind(before))
}

/** The synchronous form of `deflateBehind`. */
export function deflateBehindAtOnce(bytes: Uint8Array, before: Uint8Array): Uint8Array {
  return deflateRawSync(bytes, optionsBehind(before))
}

function optionsBehind(before: Uint8Array): ZlibOptions {
  const dictionary = before.subarray(Math.max(0, before.length - windowBytes))
  const options = { level: constants.Z_DEFAULT_COMPRESSION, finishFlush: constants.Z_SYNC_FLUSH }
  return dictionary.length === 0 ? options : { ...options, dictionary }
}
