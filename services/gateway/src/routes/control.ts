import { badRequest, requestEntityTooLarge, unsupportedMediaType } from '@orch/core/meta'
import { controlPath } from '@orch/core/names'
import { Batches } from '../exchange/batches.ts'
import { limits } from '../limits.ts'
import {
  commonHeaders,
  type GatewayRequest,
  type Pace,
  type Query,
  type RespondParts,
  representObject,
  sendBytes,
} from '../request/index.ts'

/** A control request to a server. */
export interface ControlCall {
  readonly method: string
  /** Below the control path: `/requests`; '' for the control itself. */
  readonly path: string
  readonly query: Query
  /** The parsed body; undefined without one. */
  readonly body: unknown
  /** The lines of a streamed body, as `application/x-ndjson`, instead of `body`. */
  readonly lines?: AsyncIterable<Buffer>
  /** The bytes of a file body, as `application/octet-stream`, instead of `body`. */
  readonly file?: AsyncIterable<Buffer>
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** The answer to a control request: an object, or a stream of objects, one JSON line each, of which each page takes one turn of the event loop. */
export type ControlAnswer =
  | { readonly kind: 'object'; readonly code: number; readonly object: object }
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<readonly object[]> }

/** Answers control requests; undefined for an unserved path. Throws a StatusError for an error of the caller. */
export type ControlHandler = (call: ControlCall) => Promise<ControlAnswer | undefined>

/** Media type of a streamed body or answer. */
const linesType = 'application/x-ndjson'
/** Media type of a file body. */
const fileType = 'application/octet-stream'

/** Passes a request to the control of the server, and its answer to the client. False for a path outside of the control. */
export async function serveControl(
  request: GatewayRequest,
  control: ControlHandler,
  parts: RespondParts & { readonly pace: Pace },
): Promise<boolean> {
  const { exchange, method, path, query } = request
  const content = await contentOf(request)
  const left = new AbortController()
  exchange.onClose(() => left.abort())
  const answer = await control({ method, path: path.slice(controlPath.length).replace(/\/$/, ''), query, ...content, signal: left.signal })
  if (answer === undefined) return false
  if (answer.kind === 'object') {
    const { contentType, bytes } = await representObject(request, answer.object, parts)
    await sendBytes(request, answer.code, commonHeaders(request, contentType), bytes)
    return true
  }
  request.code = 200
  exchange.begin(200, commonHeaders(request, linesType))
  // The head is sent with the first bytes, and the first object may arrive late.
  exchange.write('\n')
  const batches = new Batches(exchange)
  for await (const page of answer.lines) {
    if (exchange.isClosed) return true
    if (!batches.write(page.map((object) => `${JSON.stringify(object)}\n`).join(''))) await exchange.drained()
    await parts.pace.turn()
  }
  batches.end()
  return true
}

async function contentOf(request: GatewayRequest): Promise<Pick<ControlCall, 'body' | 'lines' | 'file'>> {
  const { exchange, contentType } = request
  // A refusal is sent over the stream, whose rest is left unread.
  const stream = (): AsyncIterable<Buffer> => exchange.bodyStream().iterator({ destroyOnReturn: false })
  if (contentType === linesType) return { body: undefined, lines: linesOf(stream()) }
  return contentType === fileType ? { body: undefined, file: stream() } : { body: await bodyOf(request) }
}

/** The non-empty lines of a stream. A line longer than the limit of a body is refused. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      const isEmpty = end === start && bytes === 0
      if (!isEmpty) yield Buffer.concat([...parts, chunk.subarray(start, end)])
      if (bytes > 0) parts = []
      bytes = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes > limits.bodyBytesMax) throw requestEntityTooLarge(`Request entity too large: limit is ${limits.bodyBytesMax} a line`)
  }
  if (bytes > 0) yield Buffer.concat(parts)
}

const lineFeed = 0x0a

async function bodyOf({ exchange, contentType }: GatewayRequest): Promise<unknown> {
  const outcome = await exchange.readBody(limits.controlBodyBytesMax)
  if (outcome.kind === 'tooLarge') throw requestEntityTooLarge(`Request entity too large: limit is ${limits.controlBodyBytesMax}`)
  if (outcome.kind === 'broken') throw badRequest('the body of the request was not sent to its end')
  if (outcome.bytes.length === 0) return undefined
  if (contentType !== '' && contentType !== 'application/json') throw unsupportedMediaType(['application/json'])
  try {
    return JSON.parse(Buffer.from(outcome.bytes).toString())
  } catch {
    throw badRequest('the body must be JSON')
  }
}
