import type { Freshness, ListPart, StorageService } from '@orch/core/contracts'
import { expired, type ListMeta, printContinueToken, StatusError } from '@orch/core/meta'
import { type ResolvedRead, resolveRead } from '@orch/core/read'
import { convertContents } from '../conversion/by-webhook.ts'
import { withReadyReaders } from '../custom-resources/ready-readers.ts'
import type { SchemaParts } from '../custom-resources/schema-budget.ts'
import { areDefinitions, notingShown, type ShownParts } from '../custom-resources/shown-definitions.ts'
import { type ListRepresentation, listRepresentationOf } from '../representations/list-representation.ts'
import type { RepresentationCache } from '../representations/representation-cache.ts'
import type { RespondStoredParts } from '../representations/respond-stored.ts'
import { type SendParts, sendPieces } from '../representations/send-pieces.ts'
import { callContext, type GatewayRequest } from '../request/request.ts'
import type { GatewayMetrics } from '../server/metrics.ts'
import { type Range, rangeOf, type SelectionParts } from '../target/selection.ts'
import type { Served } from '../target/target.ts'
import { type FrozenParts, frozenAt, seesPresent } from './frozen-read.ts'
import { readQueryOf, shortenDeadline, type Verb } from './verb.ts'

/** The dependencies of a list. */
export type ListParts = RespondStoredParts &
  SendParts &
  SelectionParts &
  ShownParts &
  SchemaParts &
  FrozenParts & {
    readonly storage: Pick<StorageService, 'list'>
    readonly representations: Pick<RepresentationCache, 'of'>
    /** If it is off, `limit` is ignored. */
    readonly listChunking: boolean
    readonly metrics: Pick<GatewayMetrics, 'countList' | 'countListed'>
  }

/** A collection, or a page of it: the head, then ready bytes at the speed of the client. */
export const list: Verb<ListParts> = async (request, { info, served }, parts) => {
  parts.metrics.countList(served.resource)
  const read = resolveRead('list', readQueryOf(request), { names: parts.names, level: parts.level, isChunkingOn: parts.listChunking })
  if (read.kind === 'refused') throw read.error
  shortenDeadline(request)
  const page = pageOf(read)
  const range = rangeOf(served, info, request.query, parts)
  const representation = listRepresentationOf(request, served.converted ?? served, parts)
  const storageLayout = served.isStoredVersion && !areDefinitions(served) ? representation.storageLayout : 'entries'
  // The schema is checked if neighbours with the same schema are sent together.
  const fingerprint = storageLayout === 'joined' ? served.resource.stored.readers.fingerprint : undefined
  const frozen = seesPresent(request, parts) ? undefined : await frozenAt(request, read, parts)
  const pages = parts.storage.list(
    { ...range, ...page, ...(frozen && { read: frozen }), layout: storageLayout, fingerprint },
    callContext(request, parts),
  )
  const iterator = pages[Symbol.asyncIterator]()
  try {
    const head = await headOf(iterator, read, range, parts)
    request.revision = head.revision
    parts.faults?.reads.give(request, head.revision)
    const objects = counting({ [Symbol.asyncIterator]: () => iterator }, (count) => parts.metrics.countListed(served.resource, count))
    await sendList(request, served, { head, objects, read, range, representation }, parts)
  } finally {
    pages.close()
  }
}

/** A list that storage has begun to return. */
interface BegunList {
  readonly head: ListHead
  /** The objects after the head. */
  readonly objects: AsyncIterable<ListPart>
  readonly read: ResolvedRead
  readonly range: Range
  readonly representation: ListRepresentation
}

/** Answers with a list. */
export async function sendList(
  request: GatewayRequest,
  served: Served,
  { head, objects, read, range, representation }: BegunList,
  parts: ListParts,
): Promise<void> {
  const shards = range.selection.shards === undefined ? undefined : request.query.get('shardSelector')
  const listMeta = listMetaOf(parts, head, read, printsEmptyContinue(request, served))
  const metadata = shards === undefined ? listMeta : { ...listMeta, shardInfo: { selector: shards } }
  const isMetadata = request.answer.representation.kind === 'metadata'
  const needsReaders = isMetadata && served.resource.readers.preparable !== undefined
  const ready = needsReaders ? withReadyReaders(objects, served, parts) : objects
  const stored = areDefinitions(served) ? notingShown(ready, parts) : ready
  const isConverted = served.resource.conversion !== undefined && !isMetadata
  const pieces = isConverted
    ? representation.pieces({ metadata, objects: await convertedParts(stored, request, served, parts) })
    : representation.pieces({ metadata, objects: stored, representations: parts.representations.of(head.epoch) })
  await sendPieces(request, parts, representation.format, pieces)
}

/** Passes the parts on and reports the number of objects in each. */
async function* counting(listed: AsyncIterable<ListPart>, tell: (count: number) => void): AsyncGenerator<ListPart> {
  for await (const part of listed) {
    if (part.kind === 'chunk') tell(part.count)
    else if (part.kind === 'entries') tell(part.entries.length)
    yield part
  }
}

/** A complete list, converted by the webhook of its definition: a failure occurs before the answer has begun. */
async function convertedParts(
  stored: AsyncIterable<ListPart>,
  request: GatewayRequest,
  served: Served,
  parts: ListParts,
): Promise<AsyncIterable<ListPart>> {
  const listed: ListPart[] = []
  for await (const part of stored) listed.push(part)
  const entries = listed.flatMap((part) => (part.kind === 'entries' ? part.entries : []))
  const converted = await convertContents(parts, served, entries, callContext(request, parts))
  let start = 0
  return inParts(
    listed.map((part) => {
      if (part.kind !== 'entries') return part
      const end = start + part.entries.length
      const own = converted.slice(start, end)
      start = end
      return { ...part, entries: own }
    }),
  )
}

async function* inParts(listed: readonly ListPart[]): AsyncGenerator<ListPart> {
  yield* listed
}

type ListHead = Extract<ListPart, { kind: 'head' }>

/** The page that storage reads. */
export function pageOf(read: ResolvedRead): { readonly read: Freshness; readonly limit: number; readonly start: string } {
  switch (read.kind) {
    case 'latest':
    case 'any':
      return { read: { kind: read.kind }, limit: read.limit, start: '' }
    case 'notOlderThan':
    case 'exact':
      return { read: { kind: read.kind, revision: read.revision, asked: read.asked }, limit: read.limit, start: '' }
    case 'continue': {
      const { token, limit } = read
      if (token.revision === 'latest') return { read: { kind: 'latest' }, limit, start: token.start }
      return { read: { kind: 'page', revision: token.revision, epoch: token.epoch }, limit, start: token.start }
    }
    case 'refused':
      throw read.error
    case 'watchFrom':
    case 'watchFromNow':
    case 'watchWithState':
      throw new Error(`a list was read as ${read.kind}`)
  }
}

const tokenTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
  'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
  'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
  'first chunk was returned and now may show up in the list.'

/** The head of a list, which storage returns first. */
export async function headOf(pages: AsyncIterator<ListPart>, read: ResolvedRead, range: Range, parts: ListParts): Promise<ListHead> {
  try {
    const first = await pages.next()
    if (first.done !== true && first.value.kind === 'head') return first.value
  } catch (error) {
    if (read.kind === 'continue' && error instanceof StatusError && error.code === 410) throw tokenExpired(read.token.start, parts)
    throw error
  }
  throw new Error(`storage has sent a list of ${range.scope.resource} without its head`)
}

/** The 410 of an expired page. Its token continues at the same key, at the latest revision. */
function tokenExpired(start: string, { names }: ListParts): StatusError {
  return expired(tokenTooOld, { continue: printContinueToken(names, { revision: 'latest', start }) })
}

/** Lists of custom kinds have no type in kube-apiserver that would leave an empty text out. */
function printsEmptyContinue({ answer }: GatewayRequest, { resource }: Served): boolean {
  return resource.definedBy !== undefined && answer.representation.kind === 'object'
}

/** The metadata of the list. */
function listMetaOf({ names }: ListParts, head: ListHead, read: ResolvedRead, printsEmpty: boolean): ListMeta {
  const resourceVersion = String(head.revision)
  const isChunked = read.kind === 'continue' || ('limit' in read && read.limit > 0)
  if (!isChunked || head.next === undefined) return printsEmpty ? { continue: '', resourceVersion } : { resourceVersion }
  const token = printContinueToken(names, { revision: head.revision, epoch: head.epoch, start: head.next })
  return { resourceVersion, continue: token, ...(head.remaining === undefined ? {} : { remainingItemCount: head.remaining }) }
}
