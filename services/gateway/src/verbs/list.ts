import { constants, createGzip } from 'node:zlib'
import { expired, type Freshness, type ListPart, printContinueToken, type ResolvedRead, resolveRead, StatusError } from '@orch/core'
import { toServedBytes } from '../convert.ts'
import { limits } from '../limits.ts'
import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'
import { acceptsGzip, commonHeaders, respondJson, sendBytes } from '../respond.ts'
import { type Range, rangeOf } from '../selection.ts'
import type { Served } from '../served.ts'
import { readQueryOf, remainingMs, shortenDeadline, type Verb } from './verb.ts'

/** A collection, or a page of it: the head, then ready bytes as fast as the client takes them. */
export const list: Verb = async (request, { info, served }, parts) => {
  const read = resolveRead('list', readQueryOf(request), { names: parts.names, isChunkingOn: parts.options.listChunking !== false })
  if (read.kind === 'refused') throw read.error
  shortenDeadline(request)
  const page = pageOf(read)
  const range = rangeOf(served, info, request.query)
  const form = served.isStoredVersion ? 'joined' : 'entries'
  const pages = parts.storage.list({ ...range, ...page, form }, { timeoutMs: remainingMs(request, parts) })
  const iterator = pages[Symbol.asyncIterator]()
  try {
    const head = await headOf(iterator, read, range, parts)
    const opening = `${served.listOpening}${printMetadataRest(parts, head, read)},"items":[`
    await answer(request, parts, opening, itemsOf(iterator, served, parts))
  } finally {
    pages.close()
  }
}

/** A list without an object, for resources that are made up on each read and of which there is none. */
export function respondEmptyList(request: GatewayRequest, served: Served, revision: number): void | Promise<void> {
  return respondJson(request, 200, Buffer.from(`${served.listOpening}${revision}"},"items":[]}`))
}

type ListHead = Extract<ListPart, { kind: 'head' }>

interface Page {
  readonly read: Freshness
  readonly limit: number
  readonly start: string
}

/** What storage is asked for. */
export function pageOf(read: ResolvedRead): Page {
  switch (read.kind) {
    case 'latest':
    case 'any':
      return { read: { kind: read.kind }, limit: read.limit, start: '' }
    case 'notOlderThan':
    case 'exact':
      return { read: { kind: read.kind, revision: read.revision, asked: read.asked }, limit: read.limit, start: '' }
    case 'continue': {
      const { revision, epoch, start } = read.token
      return { read: { kind: 'page', revision, epoch }, limit: read.limit, start }
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

async function headOf(pages: AsyncIterator<ListPart>, read: ResolvedRead, range: Range, parts: GatewayParts): Promise<ListHead> {
  try {
    const first = await pages.next()
    if (first.done !== true && first.value.kind === 'head') return first.value
  } catch (error) {
    if (read.kind === 'continue' && error instanceof StatusError && error.code === 410) throw await tokenExpired(read.token.start, parts)
    throw error
  }
  throw new Error(`storage has sent a list of ${range.scope.resource} without its head`)
}

/** The 410 of a page that can't be read any more. Its token goes on from the same key, at the revision of now. */
async function tokenExpired(start: string, { storage, names }: GatewayParts): Promise<StatusError> {
  const { revision, epoch } = await storage.status({})
  return expired(tokenTooOld, { continue: printContinueToken(names, { revision, epoch, start }) })
}

/** What follows the opening of the metadata: `12","continue":"…","remainingItemCount":3}`. */
function printMetadataRest({ names }: GatewayParts, head: ListHead, read: ResolvedRead): string {
  const isChunked = read.kind === 'continue' || ('limit' in read && read.limit > 0)
  const token = head.next === undefined ? '' : printContinueToken(names, { revision: head.revision, epoch: head.epoch, start: head.next })
  const continueText = isChunked ? `,"continue":"${token}"` : ''
  const remaining = isChunked && head.next !== undefined && head.remaining !== undefined ? `,"remainingItemCount":${head.remaining}` : ''
  return `${head.revision}"${continueText}${remaining}}`
}

/** The items' bytes, in pieces with a comma between two of them. */
async function* itemsOf(pages: AsyncIterator<ListPart>, served: Served, parts: GatewayParts): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for (let next = await pages.next(); next.done !== true; next = await pages.next()) {
    for (const piece of piecesOf(next.value, served, parts)) {
      if (piece.length === 0) continue
      if (!isFirst) yield comma
      isFirst = false
      yield piece
    }
  }
}

function piecesOf(part: ListPart, served: Served, parts: GatewayParts): readonly Uint8Array[] {
  switch (part.kind) {
    case 'chunk':
      return [part.bytes]
    case 'entries':
      return part.entries.map(({ value }) => toServedBytes(parts, served, value))
    case 'head':
      return []
  }
}

const comma = Buffer.from(',')
const closing = Buffer.from(']}')

/** Sends a short list in one piece; streams a long one. Forms that need the whole text wait for it. */
async function answer(request: GatewayRequest, parts: GatewayParts, opening: string, items: AsyncGenerator<Uint8Array>): Promise<void> {
  const needsWhole = request.format === 'yaml' || (request.query.get('pretty') !== undefined && request.isPretty)
  const begun: Uint8Array[] = [Buffer.from(opening)]
  let length = 0
  for (let next = await items.next(); next.done !== true; next = await items.next()) {
    begun.push(next.value)
    length += next.value.length
    if (length >= limits.listChunkBytes && !needsWhole) return stream(request, parts, begun, items)
  }
  const whole = Buffer.concat([...begun, closing])
  if (request.format === 'yaml' || request.isPretty) return respondJson(request, 200, whole)
  return sendBytes(request, 200, commonHeaders(request, 'application/json'), whole)
}

async function stream(request: GatewayRequest, parts: GatewayParts, begun: Uint8Array[], items: AsyncGenerator<Uint8Array>): Promise<void> {
  const { exchange } = request
  const headers = commonHeaders(request, 'application/json')
  const isPacked = acceptsGzip(request)
  if (isPacked) Object.assign(headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  const plain = plainWriter(request, parts)
  const writer = isPacked ? gzipWriter(plain) : plain
  request.code = 200
  exchange.begin(200, headers)
  try {
    await writer.write(Buffer.concat(begun))
    for await (const chunk of chunksOf(items)) {
      if (exchange.isClosed) return
      await writer.write(chunk)
    }
    await writer.end()
  } catch (error) {
    // The head has left with a 200: only a break tells the client that the list is not whole.
    exchange.destroy()
    throw error
  }
}

/** Small pieces joined to chunks that are worth a write; large ones pass as they are. */
async function* chunksOf(items: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (const piece of items) {
    if (piece.length >= limits.listChunkBytes / 4) {
      // A large piece is ready bytes: it is cheaper to send it on its own than to copy it.
      if (length > 0) yield Buffer.concat(waiting)
      yield piece
      waiting = []
      length = 0
      continue
    }
    waiting.push(piece)
    length += piece.length
    if (length < limits.listChunkBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    length = 0
  }
  yield Buffer.concat([...waiting, closing])
}

interface Writer {
  write(bytes: Uint8Array): Promise<void>
  end(): Promise<void>
}

/** Writes as fast as the client reads. A client that takes nothing for as long as a request may last is given up. */
function plainWriter(request: GatewayRequest, { wheel, options }: GatewayParts): Writer {
  const { exchange } = request
  return {
    async write(bytes) {
      request.sentBytes += bytes.length
      if (exchange.write(bytes)) return
      const timer = wheel.after(options.requestTimeoutMs ?? limits.requestTimeoutMs, { due: () => exchange.destroy() })
      await exchange.drained()
      timer.cancel()
    },
    async end() {
      exchange.end()
    },
  }
}

function gzipWriter(plain: Writer): Writer {
  const packer = createGzip({ level: constants.Z_BEST_SPEED })
  const sent = (async () => {
    for await (const bytes of packer) await plain.write(bytes as Uint8Array)
    await plain.end()
  })()
  return {
    write: (bytes) => (packer.write(bytes) ? Promise.resolve() : new Promise((resolve) => packer.once('drain', resolve))),
    async end() {
      packer.end()
      await sent
    },
  }
}
