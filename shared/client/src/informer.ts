import type { ApiObject } from '@orch/core/meta'
import { isRefusal } from './refusals.ts'
import type { ListOptions, ResourceClient, SelectOptions } from './resource-client.ts'

/** An event about one object. `before` is the previous object in the informer. */
export type InformerEvent<T> =
  | { readonly kind: 'added'; readonly object: T }
  | { readonly kind: 'updated' | 'deleted'; readonly object: T; readonly before: T }

/** The dependencies and options of an informer. */
export interface InformerOptions<T extends ApiObject> {
  readonly resource: ResourceClient<T>
  /** Selects a part of the collection. */
  readonly select?: Omit<SelectOptions, 'signal'>
  /** Objects per page of the list. Default: the page size of the resource client. */
  readonly pageSize?: number | undefined
  /**
   * Returns the part of an object that the informer holds. The result may share equal parts with `like`: the object that is replaced, or the last held
   * object, which often has the same template. Default: the whole object.
   */
  readonly keep?: ((object: T, like: T | undefined) => T) | undefined
  /**
   * True for users that change no object: a server in this process may hold its parts too. Objects are held without `metadata.managedFields`, which are
   * half of a Pod; an update without them leaves them unchanged.
   */
  readonly readsOnly?: boolean | undefined
  readonly signal: AbortSignal
  /** Waits between attempts; resolves early when the signal is raised. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>
  /** A number in [0, 1). */
  readonly random: () => number
  /** Called for every change, in order, with the key of the object: `namespace/name`, or `name` at cluster scope. */
  readonly onEvent?: (event: InformerEvent<T>, key: string) => void
  /** Called after the events of each list. Objects that came and went since the last event of the watch had none. */
  readonly onListed?: () => void
  /** Called when a list or watch has failed and will be retried. */
  readonly onError?: (error: unknown) => void
}

/** A collection, or part of one, kept in memory. */
export interface Informer<T extends ApiObject> {
  /** Resolves when the first list is in memory. */
  readonly synced: Promise<void>
  /** Resolves after the signal has ended the informer. */
  readonly done: Promise<void>
  get(name: string, namespace?: string): T | undefined
  /** The object with a key: `namespace/name`, or `name` at cluster scope. */
  find(key: string): T | undefined
  values(): T[]
  /** The version of the last list, event or bookmark. */
  readonly resourceVersion: string
}

const backoffFirstMs = 200
const backoffMaxMs = 30_000

/**
 * Lists, then watches from the version of the list, until the signal is raised. A broken watch resumes from the last version
 * seen, bookmarks included; when that is expired (410) the collection is listed again and the differences become events.
 */
export function startInformer<T extends ApiObject>(options: InformerOptions<T>): Informer<T> {
  const held = new Map<string, T>()
  const state: State<T> = { held, last: undefined, version: '', mustList: true, attempts: 0 }
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>()
  return {
    synced,
    done: run(options, state, onSynced),
    get: (name, namespace) => held.get(keyOf(namespace, name)),
    find: (key) => held.get(key),
    values: () => [...held.values()],
    get resourceVersion() {
      return state.version
    },
  }
}

interface State<T> {
  readonly held: Map<string, T>
  /** The last object that was kept. */
  last: T | undefined
  version: string
  mustList: boolean
  /** The number of failures since the last success. */
  attempts: number
}

async function run<T extends ApiObject>(options: InformerOptions<T>, state: State<T>, onSynced: () => void): Promise<void> {
  const { signal, sleep, random, onError } = options
  while (!signal.aborted) {
    try {
      if (state.mustList) {
        await listAgain(options, state)
        onSynced()
      }
      if (await follow(options, state)) continue
    } catch (error) {
      if (signal.aborted) return
      onError?.(error)
      if (isRefusal(error, [410]) && !state.mustList) {
        state.mustList = true
        continue
      }
    }
    const delayMs = Math.min(backoffMaxMs, backoffFirstMs * 2 ** state.attempts++)
    await sleep(delayMs * (0.5 + random() / 2), signal)
  }
}

/** The first list accepts any version, later lists none older than the last seen. If that version is expired or unknown, the latest is listed. */
async function listAgain<T extends ApiObject>(options: InformerOptions<T>, state: State<T>): Promise<void> {
  const { resource, select, pageSize, signal } = options
  const whole = { ...select, pageSize, keep: (object: T) => kept(options, state, object), signal }
  const fresh: ListOptions = { resourceVersion: state.version === '' ? '0' : state.version, resourceVersionMatch: 'NotOlderThan' }
  const list = await resource.listAll({ ...whole, ...fresh }).catch((error: unknown) => {
    if (!isRefusal(error, [410]) && !isTooLarge(error)) throw error
    return resource.listAll(whole)
  })
  replaceAll(options, state.held, list.items)
  state.version = list.metadata.resourceVersion ?? ''
  state.mustList = false
  state.attempts = 0
  options.onListed?.()
}

/** True if an event arrived. A watch that ends without an event is not reopened at once. */
async function follow<T extends ApiObject>(options: InformerOptions<T>, state: State<T>): Promise<boolean> {
  const { resource, select, signal, readsOnly } = options
  const events = await resource.watch({ ...select, resourceVersion: state.version, allowWatchBookmarks: true, readsOnly, signal })
  let hasEvents = false
  for await (const { type, object } of events) {
    hasEvents = true
    state.attempts = 0
    state.version = object.metadata.resourceVersion ?? state.version
    const key = keyOf(object.metadata.namespace, object.metadata.name)
    if (type === 'BOOKMARK') continue
    const part = kept(options, state, object)
    if (type === 'DELETED') remove(options, state.held, key, part)
    else put(options, state.held, key, part)
  }
  return hasEvents
}

/** The part of an object to hold. */
function kept<T extends ApiObject>({ keep, readsOnly }: InformerOptions<T>, state: State<T>, object: T): T {
  const part = readsOnly ? withoutManagers(object) : object
  if (keep === undefined) return part
  state.last = keep(part, state.held.get(keyOf(object.metadata.namespace, object.metadata.name)) ?? state.last)
  return state.last
}

function withoutManagers<T extends ApiObject>(object: T): T {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

function replaceAll<T extends ApiObject>(options: InformerOptions<T>, held: Map<string, T>, items: readonly T[]): void {
  const listed = new Map(items.map((object) => [keyOf(object.metadata.namespace, object.metadata.name), object]))
  for (const [key, object] of [...held]) if (!listed.has(key)) remove(options, held, key, object)
  for (const [key, object] of listed) put(options, held, key, object)
}

/** An object that replaces another of the same name becomes two events, a deletion and an addition. */
function put<T extends ApiObject>(options: InformerOptions<T>, held: Map<string, T>, key: string, object: T): void {
  const before = held.get(key)
  if (before !== undefined && before.metadata.resourceVersion === object.metadata.resourceVersion) return
  const isSame = before?.metadata.uid === object.metadata.uid
  if (before !== undefined && !isSame) remove(options, held, key, before)
  held.set(key, object)
  options.onEvent?.(before !== undefined && isSame ? { kind: 'updated', object, before } : { kind: 'added', object }, key)
}

function remove<T extends ApiObject>({ onEvent }: InformerOptions<T>, held: Map<string, T>, key: string, object: T): void {
  const before = held.get(key)
  if (before === undefined) return
  held.delete(key)
  onEvent?.({ kind: 'deleted', object, before }, key)
}

function keyOf(namespace: string | undefined, name = ''): string {
  return namespace ? `${namespace}/${name}` : name
}

/** True if the server does not know such a new version yet, for example after a restore. */
function isTooLarge(error: unknown): boolean {
  return isRefusal(error, [504]) && error.message.includes('Too large resource version')
}
