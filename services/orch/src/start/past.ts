import { type Client, createClient, type NamedObject, objectName } from '@orch/client'
import type { TimelineEntry } from '@orch/core/contracts'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'
import type { Storage } from '@orch/storage'

/** A past state of the server, read-only. */
interface PastView {
  /** Base URL of the state, for any client: `https://127.0.0.1:41234/at/216`. */
  readonly url: string
  /** The administrator's client for this state. Writes fail with 405. */
  readonly client: Client
  /** Returns the object in this state. Rejects with NotFound if it did not exist. */
  get<T extends ApiObject = ApiObject>(reference: NamedObject): Promise<T>
  /** Returns the objects of a kind in this state, in one namespace or in all. */
  list<T extends ApiObject = ApiObject>(kind: PastList): Promise<T[]>
}

/** Selects the objects of a kind. */
interface PastList {
  readonly apiVersion: string
  readonly kind: string
  /** All namespaces if undefined. */
  readonly namespace?: string
  readonly labelSelector?: string
}

/** A change of an object. */
export interface ObjectChange extends Omit<TimelineEntry, 'time' | 'resource'> {
  readonly time: Date
  /** Undefined if the change created the object. */
  readonly before?: ApiObject
  /** Undefined if the change deleted the object. */
  readonly after?: ApiObject
}

/** The difference of an object between two revisions. */
type ObjectDifference = Pick<ObjectChange, 'event' | 'apiVersion' | 'kind' | 'namespace' | 'name' | 'before' | 'after'>

/** Limits of a timeline. */
interface TimelineOptions {
  /** Excludes changes up to this revision. */
  readonly after?: number
  /** Excludes changes from this revision on. */
  readonly before?: number
  /** Maximum number of changes; the newest are returned. 1,000 by default. */
  readonly limit?: number
}

/** The history of a server. It survives `reset` and `restore`. */
export interface ServerPast {
  /** Opens the state at a revision or a time, read-only. */
  at(moment: number | Date): PastView
  /**
   * Returns the changes of an object, or of all objects, oldest first. Each change has its revision, time, user, request and changed paths, and the
   * object before and after.
   */
  timeline(reference?: NamedObject, options?: TimelineOptions): Promise<ObjectChange[]>
  /** Returns the objects that differ between two revisions or times, in both states. */
  diff(from: number | Date, to: number | Date): Promise<ObjectDifference[]>
}

/** The parts of a server that its history needs. */
interface PastParts {
  readonly client: Client
  readonly url: string
  readonly ownPath: string
  readonly storage: Pick<Storage, 'revisionAt' | 'status'>
}

/** Opens the history of a server. */
export function pastOf(parts: PastParts): ServerPast {
  return {
    at: (moment) => pastView(moment, parts),
    timeline: (reference, options = {}) => readChanges(reference, options, parts),
    diff: (from, to) => differences(from, to, parts),
  }
}

function pastView(moment: number | Date, { client, url }: PastParts): PastView {
  const folder = `/at/${moment instanceof Date ? moment.toISOString() : moment}`
  const past = createClient({ send: (request) => client.transport.send({ ...request, path: folder + request.path }), close: () => {} })
  const find = async <T extends ApiObject>(apiVersion: string, kind: string) => {
    const found = await findKind(past, apiVersion, kind)
    return { resource: past.resource<T>(found), isNamespaced: found.namespaced }
  }
  return {
    url: `${url}${folder}`,
    client: past,
    async get<T extends ApiObject>(named: NamedObject) {
      const { apiVersion, kind, name, namespace = 'default' } = objectName(named)
      const { resource, isNamespaced } = await find<T>(apiVersion, kind)
      return resource.get(name, isNamespaced ? { namespace } : {})
    },
    async list<T extends ApiObject>({ apiVersion, kind, ...select }: PastList) {
      const { resource } = await find<T>(apiVersion, kind)
      return (await resource.list(select)).items
    },
  }
}

/** Finds the resource of a kind by discovery. */
async function findKind(client: Client, apiVersion: string, kind: string) {
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  const found = (await client.discover(group, version)).find((resource) => resource.kind === kind)
  if (found === undefined) throw new TypeError(`${apiVersion} has no kind ${kind}`)
  return found
}

/** Formats an item like the server does. */
interface PrintedChange extends Omit<ObjectChange, 'revision' | 'time'> {
  readonly revision: string
  readonly time: string
}

/** Returns the changes of an object, or of all objects, oldest first. */
async function readChanges(reference: NamedObject | undefined, options: TimelineOptions, parts: PastParts): Promise<ObjectChange[]> {
  const { limit = 1_000, after, before } = options
  const found: ObjectChange[] = []
  for await (const change of changesOf(await queryOf(reference, parts), { after, before, limit }, parts)) {
    found.push(change)
    if (found.length === limit) break
  }
  return found.reverse()
}

async function queryOf(reference: NamedObject | undefined, { client }: PastParts): Promise<Readonly<Record<string, string>>> {
  if (reference === undefined) return {}
  const { apiVersion, kind, name, namespace = 'default' } = objectName(reference)
  const { group = '' } = parseApiVersion(apiVersion) ?? {}
  const { plural, namespaced } = await findKind(client, apiVersion, kind)
  return { resource: group === '' ? plural : `${plural}.${group}`, name, ...(namespaced ? { namespace } : {}) }
}

/** Number of objects compared in one turn of the event loop. */
const comparedPerTurn = 100

/** Maximum number of changes per page. */
const pageMax = 1_000

/** Reads changes, newest first. */
async function* changesOf(
  query: Readonly<Record<string, string>>,
  { after, before, limit = pageMax }: TimelineOptions,
  { client, ownPath }: PastParts,
): AsyncGenerator<ObjectChange, void, undefined> {
  for (let next = before; ; ) {
    const page = await client.request<{ readonly items: readonly PrintedChange[]; readonly next?: string }>({
      method: 'GET',
      path: `${ownPath}/timeline`,
      query: { ...query, values: true, after, before: next, limit: Math.min(limit, pageMax) },
    })
    for (const { revision, time, ...change } of page.items) yield { ...change, revision: Number(revision), time: new Date(time) }
    if (page.next === undefined) return
    next = Number(page.next)
  }
}

/** Reads the changes after one revision and up to another one, newest first. Pages cannot overlap, because every change has a separate revision. */
async function* changesBetween(from: number, to: number, parts: PastParts): AsyncGenerator<ObjectChange, void, undefined> {
  const { revision, compacted } = await parts.storage.status({})
  // Compacted changes are gone, and a backup may have raised their revisions by a billion.
  const first = Math.max(from, compacted)
  for (let end = Math.min(to, revision); end > first; end -= pageMax)
    yield* changesOf({}, { after: Math.max(first, end - pageMax), before: end + 1 }, parts)
}

/** The first and last state of a changed object. */
interface ChangedObject extends Pick<ObjectChange, 'apiVersion' | 'kind' | 'namespace' | 'name' | 'after'> {
  before: ApiObject | undefined
}

/** Returns the objects that differ between two revisions. If the second revision is the older one, created objects count as deleted. */
async function differences(from: number | Date, to: number | Date, parts: PastParts): Promise<ObjectDifference[]> {
  const [a, b] = [await revisionOf(from, parts), await revisionOf(to, parts)]
  const changed = new Map<string, ChangedObject>()
  for await (const { apiVersion, kind, namespace, name, before, after } of changesBetween(Math.min(a, b), Math.max(a, b), parts)) {
    const key = JSON.stringify([apiVersion, kind, namespace, name])
    const known = changed.get(key)
    if (known === undefined) changed.set(key, { apiVersion, kind, namespace, name, before, after })
    else known.before = before
  }
  const found: ObjectDifference[] = []
  let compared = 0
  for (const { apiVersion, kind, namespace, name, ...states } of changed.values()) {
    if (++compared % comparedPerTurn === 0) await new Promise((resolve) => setImmediate(resolve))
    const [before, present] = a <= b ? [states.before, states.after] : [states.after, states.before]
    if (JSON.stringify(withoutRevision(before)) === JSON.stringify(withoutRevision(present))) continue
    const event = before === undefined ? 'created' : present === undefined ? 'deleted' : 'modified'
    found.push({
      event,
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      name,
      ...(before === undefined ? {} : { before }),
      ...(present === undefined ? {} : { after: present }),
    })
  }
  return found.reverse()
}

function withoutRevision(object: ApiObject | undefined): unknown {
  if (object === undefined) return undefined
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

async function revisionOf(moment: number | Date, { storage }: PastParts): Promise<number> {
  if (Number.isNaN(Number(moment))) throw new TypeError(`expected a revision or a time, got ${moment}`)
  return moment instanceof Date ? (await storage.revisionAt({ timeMs: moment.getTime() })).revision : moment
}
