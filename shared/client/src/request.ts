import { plainCopy } from '@orch/core/json'
import { relayed, type Status, StatusError } from '@orch/core/meta'
import type { Transport, TransportResponse } from './transport.ts'

/** Query parameters. Parameters without a value are omitted. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** A request whose answer is JSON. */
export interface JsonRequest {
  readonly method: string
  /** The path without the query. */
  readonly path: string
  readonly query?: Query
  readonly body?: unknown
  /** Default `application/json`. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  readonly takesEvents?: boolean | undefined
}

/** Sends a request. An answer of 400 or more is thrown as a StatusError. */
export async function send(transport: Transport, request: JsonRequest): Promise<TransportResponse> {
  const { method, path, query, body, contentType = 'application/json', headers, signal, takesEvents } = request
  const accepting = { accept: 'application/json', ...headers }
  const response = await transport.send({
    method,
    path: path + printQuery(query),
    headers: body === undefined ? accepting : { ...accepting, 'content-type': contentType },
    body: body === undefined ? undefined : JSON.stringify(body),
    value: transport.takesValues === true ? plainCopy(body) : undefined,
    signal,
    takesEvents,
  })
  if (response.status >= 400) throw await toError(response)
  return response
}

/** Sends a request and reads the answer as JSON. */
export async function sendJson<T>(transport: Transport, request: JsonRequest): Promise<T> {
  const response = await send(transport, request)
  return response.value ?? JSON.parse(await readText(response))
}

/** Sends a request whose answer is not needed: the body is read but not parsed. */
export async function sendUnread(transport: Transport, request: JsonRequest): Promise<void> {
  const { body, whole } = await send(transport, request)
  if (whole !== undefined) return
  const parts = body[Symbol.asyncIterator]()
  while ((await parts.next()).done !== true);
}

/** The whole body as text. */
export async function readText({ body, whole }: TransportResponse): Promise<string> {
  const pieces = whole === undefined ? [] : [whole]
  if (whole === undefined) for await (const piece of body) pieces.push(piece)
  const [first] = pieces
  const { buffer, byteOffset, length } = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces)
  return Buffer.from(buffer, byteOffset, length).toString()
}

/** `?a=1&b=x`, or an empty text without parameters. */
function printQuery(query: Query = {}): string {
  let text = ''
  for (const name in query) {
    const value = query[name]
    if (value !== undefined) text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(String(value))}`
  }
  return text
}

async function toError(response: TransportResponse): Promise<StatusError> {
  const text = await readText(response)
  const status = parseStatus(text)
  if (status !== undefined) return new StatusError(status)
  const retryAfter = Number(response.headers['retry-after'])
  const reason = response.status === 429 ? 'TooManyRequests' : ''
  return relayed(response.status, reason, text.trim(), Number.isFinite(retryAfter) ? { details: { retryAfterSeconds: retryAfter } } : {})
}

function parseStatus(text: string): Status | undefined {
  try {
    const value: Status | null = JSON.parse(text)
    return value?.kind === 'Status' && typeof value.code === 'number' ? value : undefined
  } catch {
    return undefined
  }
}
