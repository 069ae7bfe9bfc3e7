import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { limits } from '../limits.ts'

/** The peer has violated the protocol; its connection ends. */
export class SpdyError extends Error {}

/** Words of the dictionary, each preceded by its length. */
const words =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5 content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status'.split(
    ' ',
  )
const texts =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.'

/** The initial window of the compression of headers: SPDY/3, section 2.6.10.1. */
export const headerDictionary: Buffer = Buffer.concat([
  ...[...words, '200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin'].flatMap((word) => [
    uint32(word.length),
    Buffer.from(word),
  ]),
  Buffer.from(texts),
])

/** Header of a zlib stream with the dictionary above (RFC 1950): method and window, flags, and the checksum of the dictionary. */
export const zlibHead: Buffer = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2])
/** Bytes of earlier blocks that a compressed block may repeat. */
const windowBytes = 32 * 1024

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Values by name; several values of one name are joined by NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>

/**
 * Reads the header blocks of one connection. They are pieces of one zlib stream, each flushed to a byte, so that a piece can be inflated separately,
 * with the previous text as its dictionary, and with a size limit.
 */
export class HeaderReader {
  #window = headerDictionary
  #isFirst = true

  read(block: Buffer): SpdyHeaders {
    return parseHeaders(this.#inflate(block))
  }

  #inflate(block: Buffer): Buffer {
    if (this.#isFirst && !isZlibHead(block.subarray(0, zlibHead.length))) throw new SpdyError('headers are not compressed as SPDY/3 says')
    const piece = this.#isFirst ? block.subarray(zlibHead.length) : block
    this.#isFirst = false
    try {
      const text = inflateRawSync(piece, {
        dictionary: this.#window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: limits.spdyHeaderBytesMax,
      })
      this.#window = Buffer.concat([this.#window, text]).subarray(-windowBytes)
      return text
    } catch {
      throw new SpdyError(`headers are malformed, or longer than ${limits.spdyHeaderBytesMax} bytes`)
    }
  }
}

/** The head of any level of compression, with the dictionary. */
function isZlibHead(head: Buffer): boolean {
  if (head.length < zlibHead.length) return false
  const [method = 0, flags = 0] = head
  const isDeflate = (method & 0x0f) === 8 && ((method << 8) | flags) % 31 === 0 && (flags & 0x20) !== 0
  return isDeflate && head.subarray(2).equals(zlibHead.subarray(2))
}

function parseHeaders(text: Buffer): SpdyHeaders {
  const headers = new Map<string, string>()
  let at = 0
  const number = () => {
    if (at + 4 > text.length) throw new SpdyError('headers end early')
    at += 4
    return text.readUInt32BE(at - 4)
  }
  const word = () => {
    const length = number()
    if (length > text.length - at) throw new SpdyError('headers end early')
    at += length
    return text.toString('latin1', at - length, at)
  }
  const count = number()
  for (let index = 0; index < count; index += 1) {
    const name = word()
    if (name === '' || name !== name.toLowerCase()) throw new SpdyError('a header has a name that is empty or not in lower case')
    if (headers.has(name)) throw new SpdyError('a header is there twice')
    headers.set(name, word())
  }
  return headers
}

const flush = { finishFlush: constants.Z_SYNC_FLUSH }

/** Compresses one header block. It refers to no earlier block, so that its only state is whether it is the first. */
export function printHeaders(headers: SpdyHeaders, isFirst: boolean): Buffer {
  const text = [uint32(headers.size)]
  for (const [name, value] of headers)
    text.push(uint32(name.length), Buffer.from(name, 'latin1'), uint32(value.length), Buffer.from(value, 'latin1'))
  const piece = deflateRawSync(Buffer.concat(text), flush)
  return isFirst ? Buffer.concat([zlibHead, piece]) : piece
}
