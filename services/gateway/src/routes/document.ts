import { methodNotAllowed } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { type SendKeptParts, streamKeptPieces } from '../representations/send-pieces.ts'
import type { GatewayRequest } from '../request/request.ts'
import { commonHeaders, type RespondParts, representObject, representPrinted, send, sendBytes, textFormat } from '../request/respond.ts'

/** A request for a document, and the dependencies of its handler. */
export interface RouteContext<Parts> {
  readonly request: GatewayRequest
  readonly parts: Parts
  /** The segment of the path with this name; empty if the route has none. */
  param(name: string): string
}

/**
 * The answer with a document: bytes, or cached pieces. They are sent unchanged. (Node's `Response` belongs to its
 * fetch client: its first use would take 20 ms and leave 4 MB in the heap of each server.)
 */
export interface DocumentResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Undefined for an answer without a body. */
  readonly content?: Uint8Array | Pieces
}

/** Serves a document. */
export type DocumentHandler<Parts> = (context: RouteContext<Parts>) => DocumentResponse | Promise<DocumentResponse>

/** A handler that runs after a check, which throws to refuse the request. */
export function after<Parts>(
  check: (context: RouteContext<Parts>) => void | Promise<void>,
  handler: DocumentHandler<Parts>,
): DocumentHandler<Parts> {
  return async (context) => {
    await check(context)
    return handler(context)
  }
}

/** Media type of plain texts. */
export const plainText = 'text/plain; charset=utf-8'

/** Refuses verbs other than reads, which documents lack. */
export function readOnly<Parts>(handler: DocumentHandler<Parts>): DocumentHandler<Parts> {
  return after(({ request }) => requireRead(request), handler)
}

export function requireRead(request: Pick<GatewayRequest, 'method' | 'allowedMethods'>): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  request.allowedMethods = ['GET', 'HEAD']
  throw methodNotAllowed()
}

/** A response with an object in the accepted format. */
export async function objectResponse({ request, parts }: RouteContext<RespondParts>, object: object): Promise<DocumentResponse> {
  const { contentType, bytes } = await representObject(request, object, parts)
  return bytesResponse(bytes, { 'content-type': contentType })
}

/** A response with an object that has one form, indented JSON. */
export function jsonResponse(object: object): DocumentResponse {
  return bytesResponse(Buffer.from(JSON.stringify(object, null, 2)), { 'content-type': 'application/json' })
}

/** A response with a printed document. */
export async function printedResponse({ request }: RouteContext<unknown>, json: Uint8Array): Promise<DocumentResponse> {
  const { contentType, bytes } = await representPrinted(request, json)
  return bytesResponse(bytes, { 'content-type': contentType })
}

/** Like `printedResponse`, for a document in pieces. */
export function printedPiecesResponse(context: RouteContext<unknown>, pieces: Pieces): DocumentResponse | Promise<DocumentResponse> {
  const { request } = context
  const isAsPrinted = textFormat(request.plainFormat) === 'json' && !request.isPretty
  return isAsPrinted ? bytesResponse(pieces, { 'content-type': 'application/json' }) : printedResponse(context, Buffer.concat(pieces))
}

export function bytesResponse(content: Uint8Array | Pieces, headers: DocumentResponse['headers'], status = 200): DocumentResponse {
  return { status, headers, content }
}

/** Pieces are cached while nothing changes: joining them for one answer creates garbage. */
const joinedBelow = 8 * 1024

/** Sends a document with the common headers, compressed if that is efficient. */
export async function sendResponse(
  request: GatewayRequest,
  { status, headers: own, content }: DocumentResponse,
  parts: SendKeptParts,
): Promise<void> {
  const headers = { ...commonHeaders(request, own['content-type'] ?? plainText), ...own }
  if (content === undefined) return send(request, status, headers, '')
  if (content instanceof Uint8Array) return sendBytes(request, status, headers, content)
  // An answer to HEAD states the length that its body would have.
  if (request.method === 'HEAD' || isShort(content)) return sendBytes(request, status, headers, Buffer.concat(content))
  return streamKeptPieces(request, { headers, pieces: content, joinedBelow }, parts)
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
