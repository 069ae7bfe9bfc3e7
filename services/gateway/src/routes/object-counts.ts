import type { Catalogue, Resource } from '@orch/core/catalogue'
import { type CallContext, everything, type Freshness, type StorageService, scopePrefix } from '@orch/core/contracts'
import { StatusError } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { type AuthorizeParts, decide } from '../authorization/authorizer.ts'
import { pastReadOf } from '../history/past.ts'
import { callContext, type GatewayRequest, type Pace, type RespondParts, refuseUnknownParameters } from '../request/index.ts'
import { type DocumentHandler, objectResponse } from './document.ts'

/** The dependencies of the counts. */
export type ObjectCountsParts = AuthorizeParts &
  RespondParts & {
    readonly catalogue: Catalogue
    readonly storage: Pick<StorageService, 'list'>
    readonly clock: Clock
    readonly pace: Pace
  }

/** The number of objects of one resource. */
interface Counted {
  readonly revision: string
  readonly count: number
  /** Counts by namespace. Absent for a cluster-scoped resource, and for the counts of one namespace. */
  readonly namespaces?: Readonly<Record<string, number>>
}

/** Resources counted in one turn of the event loop. */
const countedPerTurn = 32

/**
 * Serves the number of objects of each stored resource, by namespace. The path needs a permission, and each resource the right to list it, in all
 * namespaces or in the namespace of the query.
 */
export const objectCountsRoute: DocumentHandler<ObjectCountsParts> = async (context) => {
  const { request, parts } = context
  refuseUnknownParameters(request.query, ['namespace'])
  const namespace = request.query.get('namespace') ?? ''
  const items: object[] = []
  for (const [index, resource] of countable(parts.catalogue, namespace).entries()) {
    if (index % countedPerTurn === countedPerTurn - 1) await parts.pace.turn()
    const { group, plural } = resource
    items.push({ group, resource: plural, ...(await countOf(resource, namespace, request, parts)) })
  }
  return objectResponse(context, { kind: 'ObjectCounts', items })
}

/** The stored resources, each in one version. Resources without a watch are computed for each request. */
function countable({ resources }: Catalogue, namespace: string): Resource[] {
  const found = new Map(resources.map((resource) => [`${resource.group}/${resource.plural}`, resource]))
  return [...found.values()].filter(({ verbs, isNamespaced }) => verbs.includes('watch') && (namespace === '' || isNamespaced))
}

async function countOf(
  resource: Resource,
  namespace: string,
  request: GatewayRequest,
  parts: ObjectCountsParts,
): Promise<Counted | { readonly problem: string }> {
  const { group, version, plural } = resource
  const access = {
    kind: 'resource',
    verb: 'list',
    group,
    version,
    namespace,
    resource: plural,
    name: '',
    subresource: '',
    rest: [],
  } as const
  if ((await decide(parts.authorizers, request.user, access)).kind !== 'allow') return { problem: 'forbidden' }
  try {
    return await countStored(resource, namespace, request, parts)
  } catch (error) {
    if (error instanceof StatusError) return { problem: error.message }
    throw error
  }
}

async function countStored(resource: Resource, namespace: string, request: GatewayRequest, parts: ObjectCountsParts): Promise<Counted> {
  const scope = { resource: resource.stored.prefix, ...(namespace === '' ? {} : { namespace }) }
  const span = { scope, context: callContext(request, parts) }
  const past = pastReadOf(request)
  const { namespaces, ...counted } = past === undefined ? await countPresent(span, parts) : await countPast(span, past, parts)
  const isInNamespaces = resource.isNamespaced && namespace === ''
  return { ...counted, revision: String(counted.revision), ...(isInNamespaces ? { namespaces: Object.fromEntries(namespaces) } : {}) }
}

/** The objects to count. */
interface Span {
  readonly scope: { readonly resource: string; readonly namespace?: string }
  readonly context: CallContext
}

interface SpanCount {
  readonly revision: number
  readonly count: number
  /** By the first part of the keys below the prefix of the scope. */
  readonly namespaces: ReadonlyMap<string, number>
}

/**
 * Counts by reading the first object of each namespace, with the number of those after it. After objects 1 to 3 in `a` and 4 and 5 in `b`:
 *
 *   from the start   a/1, 4 more      from after a   b/4, 1 more      from after b   nothing
 */
async function countPresent(span: Span, { storage, pace }: ObjectCountsParts): Promise<SpanCount> {
  const first = await firstFrom(span, '', { kind: 'latest' }, storage)
  const { revision, count } = first
  const namespaces = new Map<string, number>()
  for (let { key, count: left } = first; key?.includes('/') === true; ) {
    const name = key.slice(0, key.indexOf('/'))
    // Keys of the namespace end before the character after the slash.
    const next = await firstFrom(span, `${name}0`, { kind: 'exact', revision, asked: String(revision) }, storage)
    namespaces.set(name, left - next.count)
    if (namespaces.size % countedPerTurn === 0) await pace.turn()
    key = next.key
    left = next.count
  }
  return { revision, count, namespaces }
}

/** The first key from a start, both relative to the prefix of the scope, and the number of keys from there. */
async function firstFrom({ scope, context }: Span, start: string, read: Freshness, storage: ObjectCountsParts['storage']) {
  const pages = storage.list({ scope, start, read, selection: everything, limit: 1, layout: 'entries' }, context)
  let [revision, more] = [0, 0]
  let key: string | undefined
  for await (const part of pages) {
    if (part.kind === 'head') [revision, more] = [part.revision, part.remaining ?? 0]
    if (part.kind === 'entries') key = part.entries[0]?.key.slice(scopePrefix(scope).length)
  }
  return { revision, key, count: key === undefined ? 0 : more + 1 }
}

/** Counts by reading all objects: each read of the past undoes all changes since then. */
async function countPast({ scope, context }: Span, read: Freshness, { storage, pace }: ObjectCountsParts): Promise<SpanCount> {
  const prefix = scopePrefix(scope)
  const namespaces = new Map<string, number>()
  let [revision, count] = [0, 0]
  for await (const part of storage.list({ scope, start: '', read, selection: everything, limit: 0, layout: 'entries' }, context)) {
    if (part.kind === 'head') revision = part.revision
    for (const { key } of part.kind === 'entries' ? part.entries : []) {
      const name = key.slice(prefix.length).split('/', 1)[0] ?? ''
      namespaces.set(name, (namespaces.get(name) ?? 0) + 1)
      count += 1
    }
    await pace.turn()
  }
  return { revision, count, namespaces }
}
