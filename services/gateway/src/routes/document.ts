import { methodNotAllowed } from '@orch/core/meta'
import type { MiddlewareHandler } from 'hono'
import { limits } from '../limits.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { type SendKeptParts, streamKeptPieces } from '../representations/send-pieces.ts'
import type { GatewayRequest } from '../request/request.ts'
import { commonHeaders, type RespondParts, representObject, representPrinted, send, sendBytes, textFormat } from '../request/respond.ts'

/** The handlers' part of hono's environment. */
export interface Environment<Parts> {
  readonly Bindings: { readonly request: GatewayRequest; readonly parts: Parts }
}

/** The documents' part of hono's context. */
export interface RouteContext<Parts> {
  readonly env: Environment<Parts>['Bindings']
  readonly req: { param(name: string): string | undefined }
}

/** Serves a document: its path, query and headers in, a Response out. */
export type DocumentHandler<Parts> = (context: RouteContext<Parts>) => Response | Promise<Response>

/** Media type of plain texts. */
export const plainText = 'text/plain; charset=utf-8'

/** Refuses verbs other than reads, which documents lack. */
export const readOnly: MiddlewareHandler<Environment<unknown>> = async ({ env: { request } }, next) => {
  requireRead(request)
  await next()
}

export function requireRead(request: Pick<GatewayRequest, 'method' | 'allowedMethods'>): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  request.allowedMethods = ['GET', 'HEAD']
  throw methodNotAllowed()
}

/** A response with an object in the accepted format. */
export async function objectResponse({ env: { request, parts } }: RouteContext<RespondParts>, object: object): Promise<Response> {
  const { contentType, bytes } = await representObject(request, object, parts)
  return bytesResponse(bytes, { 'content-type': contentType })
}

/** A response with an object that has one form, indented JSON. */
export function jsonResponse(object: object): Response {
  return bytesResponse(Buffer.from(JSON.stringify(object, null, 2)), { 'content-type': 'application/json' })
}

/** A response with a printed document. */
export async function printedResponse({ env: { request } }: RouteContext<unknown>, json: Uint8Array): Promise<Response> {
  const { contentType, bytes } = await representPrinted(request, json)
  return bytesResponse(bytes, { 'content-type': contentType })
}

/** Like `printedResponse`, for a document in pieces. */
export function printedPiecesResponse(context: RouteContext<unknown>, pieces: Pieces): Response | Promise<Response> {
  const { request } = context.env
  const isAsPrinted = textFormat(request.plainFormat) === 'json' && !request.isPretty
  return isAsPrinted ? bytesResponse(pieces, { 'content-type': 'application/json' }) : printedResponse(context, Buffer.concat(pieces))
}

/** A Response with separate content, as its own body would be copied in and out. Its author keeps pieces. */
interface DocumentResponse extends Response {
  readonly content: Uint8Array | Pieces
}

function hasContent(response: Response): response is DocumentResponse {
  return 'content' in response
}

/**
 * A Response over bytes, or pieces, that are made already. They are sent unchanged. (A class of its own would load Node's client of fetch,
 * which defines Response, at each start; like this it is loaded with the first document.)
 */
export function bytesResponse(content: Uint8Array | Pieces, headers: Readonly<Record<string, string>>, status = 200): Response {
  return Object.assign(new Response(null, { headers, status }), { content })
}

/** Pieces are cached while nothing changes: joining them for one answer creates garbage. */
const joinedBelow = 8 * 1024

/** Sends a Response with the common headers, compressed if that is efficient. */
export async function sendResponse(request: GatewayRequest, response: Response, parts: SendKeptParts): Promise<void> {
  const own = Object.fromEntries(response.headers)
  const headers = { ...commonHeaders(request, own['content-type'] ?? plainText), ...own }
  const content = hasContent(response) ? response.content : undefined
  if (content instanceof Uint8Array) return sendBytes(request, response.status, headers, content)
  if (content !== undefined) {
    // An answer to HEAD states the length that its body would have.
    if (request.method === 'HEAD' || isShort(content)) return sendBytes(request, response.status, headers, Buffer.concat(content))
    return streamKeptPieces(request, { headers, pieces: content, joinedBelow }, parts)
  }
  if (response.body === null) return send(request, response.status, headers, '')
  return sendBytes(request, response.status, headers, new Uint8Array(await response.arrayBuffer()))
}

/** True if the pieces together are smaller than the compression threshold. They are then sent as one. */
function isShort(pieces: Pieces): boolean {
  let length = 0
  for (const piece of pieces) {
    length += piece.length
    if (length >= limits.gzipBytesMin) return false
  }
  return true
}
