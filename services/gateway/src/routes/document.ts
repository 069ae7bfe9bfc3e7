import { methodNotAllowed } from '@orch/core/meta'
import type { MiddlewareHandler } from 'hono'
import { type SendParts, streamPieces } from '../representations/send-pieces.ts'
import type { GatewayRequest } from '../request.ts'
import { commonHeaders, type RespondParts, representObject, representPrinted, send, sendBytes } from '../respond.ts'

/** What handlers find in hono's environment. */
export interface Environment<Parts> {
  readonly Bindings: { readonly request: GatewayRequest; readonly parts: Parts }
}

/** What documents read of hono's context. */
export interface RouteContext<Parts> {
  readonly env: Environment<Parts>['Bindings']
  readonly req: { param(name: string): string | undefined }
}

/** Serves a document from the parts it needs: its path, its query and its headers in, a Response out. */
export type DocumentHandler<Parts> = (context: RouteContext<Parts>) => Response | Promise<Response>

/** Media type of plain texts. */
export const plainText = 'text/plain; charset=utf-8'

/** Refuses what does not read: a document has no other verbs. */
export const readOnly: MiddlewareHandler<Environment<unknown>> = async ({ env: { request } }, next) => {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    request.allowedMethods = ['GET', 'HEAD']
    throw methodNotAllowed()
  }
  await next()
}

/** A response with an object in the format that the client accepts. */
export async function objectResponse({ env: { request, parts } }: RouteContext<RespondParts>, object: object): Promise<Response> {
  const { contentType, bytes } = await representObject(request, object, parts)
  return new BytesResponse(bytes, { 'content-type': contentType })
}

/** A response with a document that is printed already. */
export async function printedResponse({ env: { request } }: RouteContext<unknown>, json: Uint8Array): Promise<Response> {
  const { contentType, bytes } = await representPrinted(request, json)
  return new BytesResponse(bytes, { 'content-type': contentType })
}

/** A Response over bytes that are made already. They are sent as they are: a Response's own body is copied in and out. */
export class BytesResponse extends Response {
  readonly content: Uint8Array

  constructor(content: Uint8Array, headers: Readonly<Record<string, string>>, status = 200) {
    super(null, { headers, status })
    this.content = content
  }
}

/** A Response over pieces that are made already and follow each other. */
export class PiecesResponse extends Response {
  readonly pieces: readonly Uint8Array[]

  constructor(pieces: readonly Uint8Array[], headers: Readonly<Record<string, string>>) {
    super(null, { headers })
    this.pieces = pieces
  }
}

/** Pieces are kept for as long as nothing changes: what is joined of them for one answer is garbage. */
const joinedBelow = 16 * 1024

/** Sends a Response with the headers that every answer has, compressed where that pays. */
export async function sendResponse(request: GatewayRequest, response: Response, parts: SendParts): Promise<void> {
  const own = Object.fromEntries(response.headers)
  const headers = { ...commonHeaders(request, own['content-type'] ?? plainText), ...own }
  if (response instanceof BytesResponse) return sendBytes(request, response.status, headers, response.content)
  if (response instanceof PiecesResponse) {
    // What has no body says how long that would be.
    if (request.method === 'HEAD') return sendBytes(request, response.status, headers, Buffer.concat(response.pieces))
    return streamPieces(request, { headers, pieces: response.pieces, joinedBelow }, parts)
  }
  if (response.body === null) return send(request, response.status, headers, '')
  return sendBytes(request, response.status, headers, new Uint8Array(await response.arrayBuffer()))
}
