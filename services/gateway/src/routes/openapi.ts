import type { Clock } from '@orch/platform'
import { pageNotFound, type RespondParts } from '../request/respond.ts'
import { acceptedType } from './accepted.ts'
import { bytesResponse, type DocumentHandler, type DocumentResponse, plainText, printedPiecesResponse } from './document.ts'
import type { OpenApiDocuments } from './openapi-documents.ts'
import { type OpenApiFile, openApi3Url } from './openapi-file.ts'

/** The dependencies of the routes of OpenAPI. */
export type OpenApiRouteParts = RespondParts & {
  readonly clock: Pick<Clock, 'now'>
  readonly openApi: Pick<OpenApiDocuments, 'now'>
  /** Everything is served below this path: `/base`. */
  readonly pathPrefix: string
}

/** Headers of a 304 (RFC 9110, 15.4.5). */
const keptHeadersOf304 = ['cache-control', 'etag', 'expires', 'last-modified', 'vary']

/** Answers with a 304 to a client with the same ETag, the document's hash, which the handlers set. */
export function unlessKnown<Parts>(handler: DocumentHandler<Parts>): DocumentHandler<Parts> {
  return async (context) => {
    const response = await handler(context)
    const { method, exchange } = context.request
    const known = exchange.header('if-none-match')
    const { etag } = response.headers
    if (known === undefined || etag === undefined || (method !== 'GET' && method !== 'HEAD')) return response
    const isKnown = known.trim() === '*' || known.match(/"[^"]*"/g)?.includes(etag) === true
    if (!isKnown) return response
    return {
      status: 304,
      headers: Object.fromEntries(Object.entries(response.headers).filter(([name]) => keptHeadersOf304.includes(name))),
    }
  }
}

const jsonType = 'application/json'
const protobuf2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** The spelling of clients for earlier releases. */
const earlierProtobuf2 = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

const protobuf3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
const earlierProtobuf3 = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'

/** The whole document in Protobuf on request, otherwise in JSON. Created at its first use. */
export const openApi2: DocumentHandler<OpenApiRouteParts> = async ({ request, parts }) => {
  const type = acceptedType(request.exchange.header('accept'), [jsonType, protobuf2, earlierProtobuf2])
  if (type === undefined) return refused(vary2)
  const file = await parts.openApi.now().file2[type === jsonType ? 'json' : 'encoded']()
  // A type with an @ in it breaks the client when it is sent back.
  return bytesResponse(file.pieces, { ...headersOf(file, type === jsonType ? jsonType : protobuf2), vary: vary2 })
}

const vary2 = 'Accept-Encoding, Accept'

/** The answer to a client that accepts no form of a document. */
function refused(vary: string): DocumentResponse {
  return { status: 406, headers: { 'content-type': plainText, vary } }
}

/** The list of OpenAPI 3 documents, one for each group version, with their hashes. */
export const openApi3: DocumentHandler<OpenApiRouteParts> = async (context) =>
  printedPiecesResponse(context, await context.parts.openApi.now().index())

/** With the current hash an answer may be cached for ever; another hash is redirected to the current one. */
export const openApi3One: DocumentHandler<OpenApiRouteParts> = async (context) => {
  const { request, parts } = context
  const name = context.param('name')
  const file = await parts.openApi.now().file3(name)
  if (file === undefined) throw pageNotFound()
  const hash = request.query.get('hash')
  if (hash !== undefined && hash !== '' && hash !== file.json.hash) {
    const location = openApi3Url(parts.pathPrefix, name, file.json.hash)
    return { status: 301, headers: { 'content-type': plainText, location } }
  }
  const type = acceptedType(request.exchange.header('accept'), [jsonType, protobuf3, earlierProtobuf3])
  // A document of this size is from a remote server, and forwarded unchanged.
  if (type === undefined || (type !== jsonType && isStreamed(file.json))) return refused('Accept')
  const extra: Record<string, string> =
    hash === file.json.hash ? { 'cache-control': 'public, immutable', expires: new Date(parts.clock.now() + yearMs).toUTCString() } : {}
  return type === jsonType ? fileResponse(file.json, jsonType, extra) : fileResponse(await file.encoded(), protobuf3, extra)
}

const yearMs = 365 * 24 * 60 * 60 * 1000

/** A document of a remote server may have many megabytes, so it is written at the speed of the client. */
const streamedAboveBytes = 4 * 1024 * 1024

function isStreamed({ pieces }: OpenApiFile): boolean {
  return pieces.some(({ length }) => length > streamedAboveBytes)
}

function fileResponse(file: OpenApiFile, contentType: string, extra: Record<string, string>): DocumentResponse {
  const content = isStreamed(file) ? file.pieces : Buffer.concat(file.pieces)
  return bytesResponse(content, { ...headersOf(file, contentType), ...extra })
}

function headersOf({ hash, madeMs }: OpenApiFile, contentType: string): Record<string, string> {
  return { 'content-type': contentType, etag: `"${hash}"`, 'last-modified': new Date(madeMs).toUTCString(), vary: 'Accept' }
}
