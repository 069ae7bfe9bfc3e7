import { type ApiList, type ApiObject, conflict, type Status } from '@orch/core/meta'
import { isRefusal } from './refusals.ts'
import { type JsonRequest, send, sendJson, sendUnread } from './request.ts'
import type { Transport } from './transport.ts'
import { readWatch, type WatchEvent } from './watch-stream.ts'

/** A collection of the API. */
export interface ResourceAddress {
  /** '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
}

interface Common {
  readonly signal?: AbortSignal | undefined
}

/** Identifies one object. */
export interface ObjectOptions extends Common {
  readonly namespace?: string | undefined
}

/** Options for reading one object. */
export interface GetOptions extends ObjectOptions {
  readonly resourceVersion?: string | undefined
}

/** Options of a write. */
export interface WriteOptions extends ObjectOptions {
  readonly subresource?: string | undefined
  readonly dryRun?: boolean | undefined
  readonly fieldManager?: string | undefined
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined
}

/** A part of a collection. */
export interface SelectOptions extends Common {
  /** Default: all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

/** Selects a part of a collection, its version, and the page size. */
export interface ListOptions extends SelectOptions {
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact' | undefined
  readonly limit?: number | undefined
  readonly continue?: string | undefined
  /** The media type of the answer. Default: `application/json`. */
  readonly accept?: string | undefined
}

/** Selects a part of a collection to read page by page, and the part of each object to keep. */
interface ListAllOptions<T extends ApiObject> extends Omit<ListOptions, 'limit' | 'continue'> {
  /** Objects per page. Each page is held in memory, so large objects call for small pages. */
  readonly pageSize?: number | undefined
  /** Returns the part of an object to keep. Default: the whole object. */
  readonly keep?: ((object: T) => T) | undefined
}

/** Selects a part of a collection to watch, and the start of the watch. */
export interface WatchOptions extends SelectOptions {
  readonly resourceVersion?: string | undefined
  /** Servers require it together with `sendInitialEvents`. */
  readonly resourceVersionMatch?: 'NotOlderThan' | undefined
  readonly allowWatchBookmarks?: boolean | undefined
  readonly sendInitialEvents?: boolean | undefined
  readonly timeoutSeconds?: number | undefined
  /** The media type of the events' objects. Default: `application/json`. */
  readonly accept?: string | undefined
  /** True for a reader that changes no object: a server in this process may hold it too. The reader may get objects without `metadata.managedFields`. */
  readonly readsOnly?: boolean | undefined
}

/** The body of a delete. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

/** The forms of patches; `apply` is server-side apply. */
type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  readonly type: PatchType
  /** Takes over fields from other managers; only for apply. */
  readonly force?: boolean | undefined
}

const patchMediaTypes: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/** Objects per page of `listAll`, unless the caller sets another number. */
const pageSizeUsual = 500

/** Writes whose answers are not parsed, for callers that do not need them. Failures are StatusErrors. */
interface UnansweredWrites<T extends ApiObject> {
  create(object: T, options?: WriteOptions): Promise<void>
  update(object: T, options?: WriteOptions): Promise<void>
  patch(name: string, patch: unknown, options: PatchOptions): Promise<void>
  delete(name: string, options?: ObjectOptions, body?: DeleteOptions): Promise<void>
}

/** The operations on one collection. Failures are StatusErrors. */
export interface ResourceClient<T extends ApiObject = ApiObject> {
  readonly address: ResourceAddress
  get(name: string, options?: GetOptions): Promise<T>
  list(options?: ListOptions): Promise<ApiList<T>>
  /** Reads the whole collection page by page. If the continue token expires, one unpaged list replaces the pages. */
  listAll(options?: ListAllOptions<T>): Promise<ApiList<T>>
  /** Resolves when the server has accepted the watch. Leaving the loop ends the watch. */
  watch(options?: WatchOptions): Promise<AsyncGenerator<WatchEvent<T>, void, undefined>>
  /** Creates in the namespace of the options, or else of the object. With a subresource such as `binding`, `object` names the parent object. */
  create(object: T, options?: WriteOptions): Promise<T>
  update(object: T, options?: WriteOptions): Promise<T>
  patch(name: string, patch: unknown, options: PatchOptions): Promise<T>
  /** Returns the object if its deletion is still in progress, otherwise a Status. */
  delete(name: string, options?: ObjectOptions, body?: DeleteOptions): Promise<T | Status>
  /** Returns the deleted objects in their last states. */
  deleteCollection(options?: ListOptions, body?: DeleteOptions): Promise<ApiList<T>>
  readonly unanswered: UnansweredWrites<T>
}

/** A list as servers send it: servers in Go send an empty list as null. */
type Answered<T> = Omit<ApiList<T>, 'items'> & { readonly items?: T[] | null }

/** The objects of a list, each with its kind: servers in Go send the kind only for the list. */
function itemsOf<T extends ApiObject>({ items, apiVersion, kind: listKind }: Answered<T>): T[] {
  const typeMeta = { apiVersion, kind: listKind?.replace(/List$/, '') }
  return (items ?? []).map((item) => (item.kind === undefined ? { ...typeMeta, ...item } : item))
}

/** A client of one collection. */
export function createResourceClient<T extends ApiObject>(transport: Transport, address: ResourceAddress): ResourceClient<T> {
  const call = <R>(request: JsonRequest) => sendJson<R>(transport, request)
  const pathOf = (namespace: string | undefined, name?: string, subresource?: string) => resourcePath(address, namespace, name, subresource)
  const askForList = async (method: 'GET' | 'DELETE', options: ListOptions, body?: DeleteOptions) => {
    const { namespace, signal, accept, ...query } = options
    const answer = await call<Answered<T>>({
      method,
      path: pathOf(namespace),
      query,
      ...(accept && { headers: { accept } }),
      ...(body && { body }),
      signal,
    })
    return { ...answer, items: itemsOf(answer) }
  }
  const list = (options: ListOptions = {}) => askForList('GET', options)
  const writePath = (object: T, options: WriteOptions, isItem: boolean) =>
    pathOf(options.namespace ?? object.metadata.namespace, isItem ? (object.metadata.name ?? '') : undefined, options.subresource)
  const toCreate = (object: T, options: WriteOptions = {}) => ({
    method: 'POST',
    path: writePath(object, options, options.subresource !== undefined),
    query: writeQuery(options),
    body: object,
    signal: options.signal,
  })
  const toUpdate = (object: T, options: WriteOptions = {}) => ({
    method: 'PUT',
    path: writePath(object, options, true),
    query: writeQuery(options),
    body: object,
    signal: options.signal,
  })
  const toPatch = (name: string, patch: unknown, options: PatchOptions) => ({
    method: 'PATCH',
    path: pathOf(options.namespace, name, options.subresource),
    query: { ...writeQuery(options), force: options.force },
    body: patch,
    contentType: patchMediaTypes[options.type],
    signal: options.signal,
  })
  const toDelete = (name: string, { namespace, signal }: ObjectOptions = {}, body?: DeleteOptions) => ({
    method: 'DELETE',
    path: pathOf(namespace, name),
    body,
    signal,
  })
  return {
    address,
    get: (name, { namespace, signal, resourceVersion } = {}) =>
      call({ method: 'GET', path: pathOf(namespace, name), query: { resourceVersion }, signal }),
    list: (options = {}) => checkExact(address, options, list),
    listAll: ({ pageSize, keep, ...options } = {}) => listAll(options, keep === undefined ? list : keeping(list, keep), pageSize),
    async watch({ namespace, signal, accept, readsOnly, ...query } = {}) {
      const what = { method: 'GET', path: pathOf(namespace), query: { watch: true, ...query }, signal, takesEvents: readsOnly }
      const response = await send(transport, { ...what, ...(accept && { headers: { accept } }) })
      return readWatch<T>(response, { omitsManagers: readsOnly })
    },
    create: (object, options) => call(toCreate(object, options)),
    update: (object, options) => call(toUpdate(object, options)),
    patch: (name, patch, options) => call(toPatch(name, patch, options)),
    delete: (name, options, body) => call(toDelete(name, options, body)),
    deleteCollection: (options = {}, body = undefined) => askForList('DELETE', options, body),
    unanswered: {
      create: (object, options) => sendUnread(transport, toCreate(object, options)),
      update: (object, options) => sendUnread(transport, toUpdate(object, options)),
      patch: (name, patch, options) => sendUnread(transport, toPatch(name, patch, options)),
      delete: (name, options, body) => sendUnread(transport, toDelete(name, options, body)),
    },
  }
}

/** Path of a collection, an object or a subresource. */
export function resourcePath(address: ResourceAddress, namespace: string | undefined, name?: string, subresource?: string): string {
  const { group, version, plural, namespaced } = address
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const inside = namespaced && namespace !== undefined && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  const item = name === undefined ? '' : `/${encodeURIComponent(name)}`
  return `${root}${inside}/${plural}${item}${subresource === undefined ? '' : `/${subresource}`}`
}

function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions) {
  return { dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation }
}

type List<T> = (options: ListOptions) => Promise<ApiList<T>>

/** Servers that do not support `Exact` answer an unlimited list with another version; with a limit they must honour it. */
async function checkExact<T extends ApiObject>(address: ResourceAddress, options: ListOptions, list: List<T>): Promise<ApiList<T>> {
  const answer = await list(options)
  const isUnlimitedExact = options.resourceVersionMatch === 'Exact' && options.limit === undefined && options.continue === undefined
  if (!isUnlimitedExact || answer.metadata.resourceVersion === options.resourceVersion) return answer
  const paged = await listPages({ ...options, limit: pageSizeUsual }, list)
  if (paged.metadata.resourceVersion === options.resourceVersion) return paged
  throw conflict({ group: address.group, resource: address.plural }, '', `the list is not at resource version ${options.resourceVersion}`)
}

function keeping<T>(list: List<T>, keep: (object: T) => T): List<T> {
  return async (options) => {
    const page = await list(options)
    return { ...page, items: page.items.map(keep) }
  }
}

async function listAll<T>(options: ListOptions, list: List<T>, pageSize = pageSizeUsual): Promise<ApiList<T>> {
  try {
    return await listPages({ ...options, limit: pageSize }, list)
  } catch (error) {
    if (!isRefusal(error, [410])) throw error
    const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options
    return list(rest)
  }
}

async function listPages<T>(options: ListOptions, list: List<T>): Promise<ApiList<T>> {
  const first = await list(options)
  const items = [...first.items]
  let token = first.metadata.continue
  while (token !== undefined && token !== '') {
    const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options
    const page = await list({ ...rest, continue: token })
    items.push(...page.items)
    token = page.metadata.continue
  }
  const { continue: _, remainingItemCount: __, ...metadata } = first.metadata
  return { ...first, metadata, items }
}
