import { crc32 } from 'node:zlib'
import { memo } from '@orch/core/memo'
import { deflateBlocks, gzipHeader, gzipTrailer } from '../representations/gzip-member.ts'

/** RFC 1951, section 3.2.4: an empty block makes readers flush their output. */
const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff])
const storedBytesMax = 0xffff

/**
 * The events of one watch as one stream of gzip: the initial state is compressed, later events are not, so that a long
 * watch keeps no compressor. kube-apiserver begins a new member of gzip with each event, which several clients cannot read.
 */
export class GzipEvents {
  #checksum = 0
  #length = 0

  begin(): Uint8Array {
    return gzipHeader
  }

  /** Compressed, outside of the event loop. Each part is compressed alone, so nothing is kept between them. */
  packed(bytes: Uint8Array): Promise<Uint8Array> {
    this.#count(bytes)
    return deflateBlocks(bytes)
  }

  /** Uncompressed; the same bytes are framed once for all watches. */
  stored(bytes: Uint8Array): Uint8Array {
    this.#count(bytes)
    return storedBlocks(bytes)
  }

  end(): Uint8Array {
    return gzipTrailer(this.#checksum, this.#length)
  }

  #count(bytes: Uint8Array): void {
    this.#checksum = crc32(bytes, this.#checksum)
    this.#length = (this.#length + bytes.length) >>> 0
  }
}

/** Bytes as stored blocks: events are the same bytes for all watches. */
const storedBlocks = memo((bytes: Uint8Array): Uint8Array => {
  const parts: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += storedBytesMax) {
    const part = bytes.subarray(start, start + storedBytesMax)
    const front = Buffer.alloc(emptyBlock.length)
    front.writeUInt16LE(part.length, 1)
    front.writeUInt16LE(storedBytesMax - part.length, 3)
    parts.push(front, part)
  }
  return Buffer.concat([...parts, emptyBlock])
})
