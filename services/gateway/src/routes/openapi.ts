import { openApi3Entry, openApi3Index } from '@orch/core/openapi'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import type { RemoteDocuments } from '../aggregation/remote-openapi.ts'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { isEndOfRun, type JoinedList, type Joining, type Run, runsOf } from '../representations/runs.ts'
import { pageNotFound, type RespondParts } from '../request/respond.ts'
import { acceptedType } from './accepted.ts'
import { bytesResponse, type DocumentHandler, plainText, printedPiecesResponse } from './document.ts'
import { encodedFile3, type OpenApi3Listed, type OpenApiFile, openApi2Files, openApi3Documents, openApi3File } from './openapi-files.ts'
import { type OpenApiParts, presentParts } from './openapi-parts.ts'

/** What the routes of OpenAPI need. */
export type OpenApiRouteParts = OpenApiParts &
  RespondParts & {
    /** Everything is served below this path: `/base`. */
    readonly pathPrefix: string
  }

/** Answers 304 to a client that has the document already. The tag is the document's hash, which the handlers set. */
export const notModified = etag({ retainedHeaders: [...RETAINED_304_HEADERS, 'last-modified'] })

const jsonType = 'application/json'
const protobuf2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** As clients spell it that were written for earlier releases. */
const earlierProtobuf2 = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'

const protobuf3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
const earlierProtobuf3 = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'

/** The whole document in Protobuf for clients that ask for it, else in JSON. Made at the first question. */
export const openApi2: DocumentHandler<OpenApiRouteParts> = async ({ env: { request, parts } }) => {
  const type = acceptedType(request.exchange.header('accept'), [jsonType, protobuf2, earlierProtobuf2])
  if (type === undefined) return refused(vary2)
  const { json, encoded } = openApi2Files(parts)
  const file = await (type === jsonType ? json() : encoded())
  // A type with an @ in it breaks the client when it comes back.
  return bytesResponse(file.pieces, { ...headersOf(file, type === jsonType ? jsonType : protobuf2), vary: vary2 })
}

const vary2 = 'Accept-Encoding, Accept'

/** The answer to a client that takes no form of a document. */
function refused(vary: string): Response {
  return new Response(null, { status: 406, headers: { 'content-type': plainText, vary } })
}

/** As long as nothing else is served, the list is the same. */
const indexes = new WeakMap<object, Pieces>()

/** The list of OpenAPI 3 documents, one for each group version, with their hashes. */
export const openApi3: DocumentHandler<OpenApiRouteParts> = async (context) => {
  const { pathPrefix } = context.env.parts
  const parts = { ...presentParts(context.env.parts), pathPrefix }
  const remote = parts.remoteOpenApi.all
  const known = remote.length === 0 ? indexes.get(parts.catalogue) : undefined
  if (known !== undefined) return printedPiecesResponse(context, known)
  const documents = await openApi3Documents(parts)
  const all = remote.length === 0 ? documents : withRemote(documents, remote)
  const listed = all.map((one) => entryOf(parts, one))
  const pieces = indexOf(parts, listed)
  if (remote.length === 0) indexes.set(parts.catalogue, pieces)
  return printedPiecesResponse(context, pieces)
}

/** Documents of this server without those of the group versions that other servers serve, and these servers' documents. */
function withRemote(documents: readonly OpenApi3Listed[], remote: readonly RemoteDocuments[]): readonly OpenApi3Listed[] {
  const added = new Map(remote.flatMap(({ name, file3 }) => (file3 === undefined ? [] : [[name, listedOf(name, file3)] as const])))
  const taken = new Set(remote.map(({ name }) => name))
  return [...documents.filter(({ name }) => !taken.has(name)), ...added.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const listedFiles = new WeakMap<OpenApiFile, OpenApi3Listed>()

/** The same value for as long as the document is the same. */
function listedOf(name: string, file: OpenApiFile): OpenApi3Listed {
  const listed = listedFiles.get(file) ?? { name, hash: file.hash }
  listedFiles.set(file, listed)
  return listed
}

/** Consecutive entries of the index as one piece. */
interface IndexRun extends Run<Uint8Array> {
  readonly list: readonly Uint8Array[]
}

const newestIndex = new WeakMap<object, JoinedList<Uint8Array, IndexRun>>()
const noIndex: JoinedList<Uint8Array, IndexRun> = { items: [], runs: [] }

const joining: Joining<Uint8Array, IndexRun> = { isEnd: isEndOfRun, join: (items) => ({ items, list: [Buffer.concat(items)] }) }

/** The index in pieces of some 32 entries each: a single entry is too short to be compressed on its own. */
function indexOf({ builtInCatalogue }: OpenApiParts, listed: readonly Uint8Array[]): Pieces {
  const items = openApi3Index(listed)
  const runs = runsOf(items, newestIndex.get(builtInCatalogue) ?? noIndex, joining)
  newestIndex.set(builtInCatalogue, { items, runs })
  return runs.map((run) => run.list)
}

/** A document that is as it was is listed as it was. */
const entries = new WeakMap<OpenApi3Listed, Uint8Array>()

function entryOf(parts: Pick<OpenApiRouteParts, 'pathPrefix'>, listed: OpenApi3Listed): Uint8Array {
  const { name, hash } = listed
  const entry = entries.get(listed) ?? openApi3Entry(name, openApi3Url(parts, name, hash))
  entries.set(listed, entry)
  return entry
}

/** With the right hash an answer may be kept for ever; a wrong one is sent to the right one. */
export const openApi3One: DocumentHandler<OpenApiRouteParts> = async (context) => {
  const { request, parts } = context.env
  const name = context.req.param('name') ?? ''
  const file = await openApi3File(parts, name)
  if (file === undefined) throw pageNotFound()
  const hash = request.query.get('hash')
  if (hash !== undefined && hash !== '' && hash !== file.hash) {
    return new Response(null, { status: 301, headers: { 'content-type': plainText, location: openApi3Url(parts, name, file.hash) } })
  }
  const type = acceptedType(request.exchange.header('accept'), [jsonType, protobuf3, earlierProtobuf3])
  // What is so large is of another server, and passed on as that has printed it.
  if (type === undefined || (type !== jsonType && file.bytes.length > streamedAboveBytes)) return refused('Accept')
  const extra = hash === file.hash ? keptHeaders(parts.clock.now()) : {}
  return type === jsonType ? fileResponse(file, jsonType, extra) : fileResponse(await encodedFile3(file, parts), protobuf3, extra)
}

function openApi3Url({ pathPrefix }: Pick<OpenApiRouteParts, 'pathPrefix'>, name: string, hash: string): string {
  return `${pathPrefix}/openapi/v3/${name}?hash=${hash}`
}

const yearMs = 365 * 24 * 60 * 60 * 1000

function keptHeaders(nowMs: number): Record<string, string> {
  return { 'cache-control': 'public, immutable', expires: new Date(nowMs + yearMs).toUTCString() }
}

/** A document of another server may have many megabytes: it is written as fast as the client reads. */
const streamedAboveBytes = 4 * 1024 * 1024

function fileResponse(file: OpenApiFile, contentType: string, extra: Record<string, string> = {}): Response {
  const content = file.bytes.length > streamedAboveBytes ? [[file.bytes]] : file.bytes
  return bytesResponse(content, { ...headersOf(file, contentType), ...extra })
}

function headersOf({ hash, madeMs }: Omit<OpenApiFile, 'bytes'>, contentType: string): Record<string, string> {
  return { 'content-type': contentType, etag: `"${hash}"`, 'last-modified': new Date(madeMs).toUTCString(), vary: 'Accept' }
}
