import { constants, createGzip } from 'node:zlib'
import { requestEntityTooLarge } from '@orch/core/meta'
import { type Exchange, type HeaderFields, headerText } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import { type Format, mediaTypeOfFormat } from '../request/negotiate.ts'
import type { GatewayRequest } from '../request/request.ts'
import { acceptsGzip, commonHeaders, respondJson, sendBytes } from '../request/respond.ts'
import type { Surroundings } from '../surroundings.ts'
import type { PiecePacker, Pieces } from './gzip-pieces.ts'

/** The dependencies of sending a body in pieces. */
export interface SendParts extends Pick<Surroundings, 'names' | 'wheel'> {
  readonly requestTimeoutMs: number
}

/** Sends a short body in one piece, and streams a long one. Formats that need the whole text wait for it. */
export async function sendPieces(
  request: GatewayRequest,
  parts: SendParts,
  format: Format,
  pieces: AsyncGenerator<Uint8Array>,
): Promise<void> {
  const contentType = mediaTypeOfFormat(format, parts.names)
  const needsWhole = format === 'yaml' || (format === 'json' && request.query.get('pretty') !== undefined && request.isPretty)
  const begun: Uint8Array[] = []
  let length = 0
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    begun.push(next.value)
    length += next.value.length
    if (needsWhole && length > limits.wholeListBytesMax) {
      await pieces.return(undefined)
      throw requestEntityTooLarge(`a list as YAML or indented has at most ${limits.wholeListBytesMax} bytes: request its pages by limit`)
    }
    if (length >= limits.listChunkBytes && !needsWhole) {
      return streamPieces(request, { headers: commonHeaders(request, contentType), pieces: continued(begun, pieces), joinedBelow }, parts)
    }
  }
  const whole = Buffer.concat(begun)
  if (format === 'yaml' || (format === 'json' && request.isPretty)) return respondJson(request, 200, whole, format)
  return sendBytes(request, 200, commonHeaders(request, contentType), whole)
}

/** Sends pieces at the speed of the client, compressed if accepted. */
function streamPieces(request: GatewayRequest, { headers, pieces, joinedBelow }: Streamed, parts: SendParts): Promise<void> {
  const contentType = headerText(headers['content-type']) ?? ''
  const isPacked = acceptsGzip(request)
  const plain = plainWriter(request, parts)
  const writer = isPacked ? gzipWriter(plain) : plain
  const write = (bytes: Uint8Array) => {
    request.audit?.addAnswer(contentType, bytes)
    return writer.write(bytes)
  }
  const chunks = Symbol.asyncIterator in pieces ? chunksOf(pieces, joinedBelow) : keptChunksOf(pieces, joinedBelow)
  return stream(request, { headers: isPacked ? packedHeaders(headers) : headers, chunks, writer: { ...writer, write } })
}

/** Options of sending cached pieces, with their packer. */
export interface SendKeptParts extends SendParts {
  readonly packer: PiecePacker
}

/** Sends cached pieces in the same way: each is compressed once, for all answers with it. */
export async function streamKeptPieces(
  request: GatewayRequest,
  { headers, pieces, joinedBelow }: Omit<Streamed, 'pieces'> & { readonly pieces: Pieces },
  parts: SendKeptParts,
): Promise<void> {
  if (!acceptsGzip(request)) return streamPieces(request, { headers, pieces, joinedBelow }, parts)
  const contentType = headerText(headers['content-type']) ?? ''
  if (request.audit !== undefined) for (const piece of pieces) request.audit.addAnswer(contentType, piece)
  const chunks = await parts.packer.gzip(pieces)
  return stream(request, { headers: packedHeaders(headers), chunks, writer: plainWriter(request, parts) })
}

function packedHeaders(headers: HeaderFields): HeaderFields {
  return { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' }
}

interface Stream {
  readonly headers: HeaderFields
  readonly chunks: AsyncIterable<Uint8Array> | readonly Uint8Array[]
  readonly writer: Writer
}

async function stream(request: GatewayRequest, { headers, chunks, writer }: Stream): Promise<void> {
  const { exchange } = request
  request.code = 200
  exchange.begin(200, headers)
  try {
    if (Symbol.asyncIterator in chunks) {
      for await (const chunk of chunks) {
        await writeAll(exchange, [chunk], writer)
        if (exchange.isClosed) return
      }
    } else await writeAll(exchange, chunks, writer)
    if (!exchange.isClosed) await writer.end()
  } catch (error) {
    // The head was sent with a 200: only a broken connection shows the client that the list is incomplete.
    exchange.destroy()
    throw error
  }
}

/** Waits only for a slower client, as there may be thousands of chunks. */
async function writeAll(exchange: Exchange, chunks: readonly Uint8Array[], writer: Writer): Promise<void> {
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += limits.listWriteBytes) {
      if (exchange.isClosed) return
      const isWhole = chunk.length <= limits.listWriteBytes
      const written = writer.write(isWhole ? chunk : chunk.subarray(at, at + limits.listWriteBytes))
      if (written !== undefined) await written
    }
  }
}

interface Streamed {
  readonly headers: HeaderFields
  readonly pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[]
  /** Smaller pieces are joined. */
  readonly joinedBelow: number
}

/** Copying smaller pieces of lists is cheaper than a write of each. */
const joinedBelow = limits.listChunkBytes / 4

async function* continued(begun: readonly Uint8Array[], pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* begun
  yield* pieces
}

/** Joins small pieces to chunks of an efficient size; large ones pass unchanged. */
async function* chunksOf(pieces: AsyncIterable<Uint8Array>, joinedBelow: number): AsyncGenerator<Uint8Array> {
  const joiner = new Joiner(joinedBelow)
  for await (const piece of pieces) for (const chunk of joiner.add(piece)) yield chunk
  for (const chunk of joiner.rest()) yield chunk
}

/** Joins small cached pieces. */
function keptChunksOf(pieces: readonly Uint8Array[], joinedBelow: number): readonly Uint8Array[] {
  const joiner = new Joiner(joinedBelow)
  const chunks = pieces.flatMap((piece) => joiner.add(piece))
  return chunks.concat(joiner.rest())
}

/** Joins consecutive small pieces. */
class Joiner {
  readonly #joinedBelow: number
  #waiting: Uint8Array[] = []
  #length = 0

  constructor(joinedBelow: number) {
    this.#joinedBelow = joinedBelow
  }

  /** Adds a piece, and returns the pieces to write now. */
  add(piece: Uint8Array): readonly Uint8Array[] {
    // A large piece is ready bytes: it is cheaper to send it on its own than to copy it.
    if (piece.length >= this.#joinedBelow) return [...this.rest(), piece]
    this.#waiting.push(piece)
    this.#length += piece.length
    return this.#length < limits.listChunkBytes ? none : this.rest()
  }

  rest(): readonly Uint8Array[] {
    if (this.#length === 0) return none
    const joined = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#length = 0
    return [joined]
  }
}

const none: readonly never[] = []

interface Writer {
  /** Undefined if more can follow at once. */
  write(bytes: Uint8Array): Promise<void> | undefined
  end(): Promise<void>
}

/** Writes at the speed of the client. A client that reads nothing for the duration of a request is disconnected. */
function plainWriter(request: GatewayRequest, { wheel, requestTimeoutMs }: SendParts): Writer {
  const { exchange } = request
  const drained = async () => {
    const timer = wheel.after(requestTimeoutMs, { due: () => exchange.destroy() })
    await exchange.drained()
    timer.cancel()
  }
  return {
    write(bytes) {
      request.sentBytes += bytes.length
      return exchange.write(bytes) ? undefined : drained()
    },
    async end() {
      exchange.end()
    },
  }
}

function gzipWriter(plain: Writer): Writer {
  const packer = createGzip({ level: constants.Z_BEST_SPEED })
  const sent = (async () => {
    for await (const bytes of packer) await plain.write(bytes)
    await plain.end()
  })()
  return {
    write: (bytes) => (packer.write(bytes) ? undefined : new Promise((resolve) => packer.once('drain', resolve))),
    async end() {
      packer.end()
      await sent
    },
  }
}
