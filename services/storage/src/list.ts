import {
  type Entry,
  type FieldRequirement,
  type ListPart,
  type ListRequest,
  leavesJoined,
  objectKey,
  type Scope,
  type Selection,
  type Store,
  scopePrefix,
} from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { fieldsOfKey, isInKey, isInShards, matchesFields, matchesLabels } from '@orch/core/selectors'
import { limits } from './limits.ts'
import { type FactSet, jsonOf, type StoredObject, toEntry, uidOf } from './memory/stored-object.ts'
import type { Tree } from './memory/tree.ts'

/** The source of a list: the state at one revision. */
export interface ListSource {
  readonly tree: Tree
  readonly revision: Revision
  readonly epoch: string
}

type Head = Extract<ListPart, { kind: 'head' }>

/** The span of keys that a list walks. */
interface Span {
  /** The prefix of the keys, which are stored without it. */
  readonly prefix: string
  readonly start: string
  readonly end: string
  readonly matches: Matches | undefined
}

/** The parts of a list from memory. Computes the head at once and reads objects on demand. */
export function listTree(request: ListRequest, source: ListSource): { head: Head; parts: () => Generator<ListPart, void, undefined> } {
  const span = toSpan(request, source.tree)
  const { revision, epoch } = source
  if (request.limit === 0) {
    return { head: { kind: 'head', revision, epoch }, parts: () => walkParts(request, source.tree, span) }
  }
  return span.matches === undefined ? countedPage(request, source, span) : searchedPage(request, source, span, span.matches)
}

/** Without a selector, a page is a span of ranks. */
function countedPage(request: ListRequest, { tree, revision, epoch }: ListSource, span: Span) {
  const { limit } = request
  const first = tree.rank(span.start)
  const total = tree.rank(span.end)
  const next = first + limit < total ? tree.at(first + limit) : undefined
  if (next === undefined) return { head: { kind: 'head' as const, revision, epoch }, parts: () => walkParts(request, tree, span) }
  const head = { kind: 'head' as const, revision, epoch, next: next.key.slice(span.prefix.length), remaining: total - first - limit }
  return { head, parts: () => walkParts(request, tree, { ...span, end: next.key }) }
}

/** A full page continues at the next key, whether or not another object matches, as in kube-apiserver. */
function searchedPage(request: ListRequest, { tree, revision, epoch }: ListSource, span: Span, matches: Matches) {
  const { limit } = request
  const found: StoredObject[] = []
  let next: StoredObject | undefined
  search: for (const { objects, from, to } of tree.walk(span.start, span.end)) {
    for (let index = from; index < to; index++) {
      const object = objects[index]
      if (object === undefined) continue
      if (found.length === limit) {
        next = object
        break search
      }
      if (matches(object)) found.push(object)
    }
  }
  const head = { kind: 'head' as const, revision, epoch, ...(next === undefined ? {} : { next: next.key.slice(span.prefix.length) }) }
  return { head, parts: () => objectParts(request, found) }
}

/** A page of the past that only the store still holds. */
export async function listStore(
  request: ListRequest,
  {
    store,
    revision,
    epoch,
    toObject,
  }: { store: Store; revision: Revision; epoch: string; toObject: (key: string, revision: Revision, stored: Uint8Array) => StoredObject },
): Promise<{ head: Head; parts: () => Generator<ListPart, void, undefined> }> {
  const prefix = scopePrefix(request.scope)
  const matches = toMatches(request.scope, request.selection)
  const found: StoredObject[] = []
  let next: string | undefined
  let start: string | undefined = prefix + request.start
  while (start !== undefined && next === undefined) {
    const page = await store.range({ prefix, start, limit: limits.storePageRecords, revision })
    for (const record of page.records) {
      const object = toObject(record.key, record.revision, record.value)
      if (request.limit !== 0 && found.length === request.limit) {
        next = object.key
        break
      }
      if (matches === undefined || matches(object)) found.push(object)
    }
    start = page.next
    // One turn of the event loop copies the records of a page.
    if (start !== undefined) await new Promise((resolve) => setImmediate(resolve))
  }
  const head: Head = {
    kind: 'head',
    revision,
    epoch,
    ...(next === undefined ? {} : { next: next.slice(prefix.length) }),
    ...(next === undefined || matches !== undefined ? {} : { remaining: await store.count({ prefix, start: next, revision }) }),
  }
  return { head, parts: () => objectParts(request, found) }
}

/** The keys to check: one key if the name is known and determines it, else all keys of the scope. */
function toSpan({ scope, selection, start }: ListRequest, tree: Tree): Span {
  const prefix = scopePrefix(scope)
  const matches = toMatches(scope, selection)
  const name = scope.name ?? demanded('metadata.name', selection.fields)
  const namespace =
    scope.namespace === undefined || scope.namespace === '' ? demanded('metadata.namespace', selection.fields) : scope.namespace
  const whole = { prefix, start: prefix + start, end: endOf(prefix), matches }
  if (name === undefined) {
    if (namespace === undefined || namespace === '' || scope.namespace === namespace) return whole
    const inside = scopePrefix({ resource: scope.resource, namespace })
    return { ...whole, start: later(inside, whole.start), end: endOf(inside) }
  }
  const key = objectKey(scope.resource, namespace, name)
  // Without a namespace, the name determines the key only for cluster-scoped resources; no other object then has that name.
  if (namespace === undefined && tree.get(key) === undefined) return whole
  return { ...whole, start: later(key, whole.start), end: `${key}\0` }
}

function later(a: string, b: string): string {
  if (a > b) return a
  return b
}

/** The prefix ends with a slash; '0' is the character after it. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`
}

type PartRequest = Pick<ListRequest, 'layout' | 'fingerprint'>

function* walkParts(wanted: PartRequest, tree: Tree, { start, end, matches }: Span): Generator<ListPart, void, undefined> {
  if (matches !== undefined) return yield* objectParts(wanted, matching(tree, start, end, matches))
  for (const run of tree.walk(start, end)) {
    if (leavesJoined(wanted, run.objects, run.from, run.to))
      for (const { bytes, count } of run.join()) yield { kind: 'chunk', bytes, count }
    else yield* objectParts(wanted, run.objects.slice(run.from, run.to))
  }
}

function* matching(tree: Tree, start: string, end: string, matches: Matches): Generator<StoredObject, void, undefined> {
  for (const { objects, from, to } of tree.walk(start, end)) {
    for (let index = from; index < to; index++) {
      const object = objects[index]
      if (object !== undefined && matches(object)) yield object
    }
  }
}

function* objectParts(wanted: PartRequest, objects: Iterable<StoredObject>): Generator<ListPart, void, undefined> {
  let batch: StoredObject[] = []
  let bytes = 0
  for (const object of objects) {
    batch.push(object)
    bytes += object.length + 1
    if (wanted.layout === 'joined' ? bytes < limits.chunkBytes : batch.length < limits.entriesPerPart && bytes < limits.entriesPartBytes)
      continue
    yield toPart(wanted, batch, bytes)
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield toPart(wanted, batch, bytes)
}

function toPart(wanted: PartRequest, objects: readonly StoredObject[], bytesWithCommas: number): ListPart {
  if (!leavesJoined(wanted, objects)) return { kind: 'entries', entries: objects.map((object): Entry => toEntry(object)) }
  const bytes = Buffer.allocUnsafeSlow(bytesWithCommas - 1)
  let at = 0
  for (const object of objects) {
    if (at > 0) bytes[at++] = comma
    bytes.set(jsonOf(object), at)
    at += object.length
  }
  return { kind: 'chunk', bytes, count: objects.length }
}

const comma = 0x2c

/** True if an object matches a selection. */
type Matches = (object: StoredObject) => boolean

/** The test for a selection within a scope; undefined if every object passes. Tests each set of facts once. */
function toMatches({ resource, name }: Scope, { labels, fields, shards }: Selection): Matches | undefined {
  const tests: Matches[] = []
  const fromKey = fields.filter(isInKey)
  const fromFacts = fields.filter((requirement) => !isInKey(requirement))
  if (name !== undefined) fromKey.push({ field: 'metadata.name', operator: 'Equals', value: name })
  if (fromKey.length > 0) tests.push(({ key }) => matchesFields(fromKey, fieldsOfKey(resource, key)))
  if (fromFacts.length > 0)
    tests.push(
      oncePerSet(
        ({ fields: set }) => set,
        (facts) => matchesFields(fromFacts, facts),
      ),
    )
  if (labels.length > 0)
    tests.push(
      oncePerSet(
        ({ labels: set }) => set,
        (facts) => matchesLabels(labels, facts),
      ),
    )
  if (shards !== undefined) {
    const fieldOf = (object: StoredObject) => (field: 'uid' | 'namespace') =>
      field === 'uid' ? uidOf(object) : (fieldsOfKey(resource, object.key)['metadata.namespace'] ?? '')
    tests.push((object) => isInShards(shards, fieldOf(object)))
  }
  return tests.length <= 1 ? tests[0] : (object) => tests.every((test) => test(object))
}

function demanded(field: string, fields: readonly FieldRequirement[]): string | undefined {
  return fields.find((one) => one.field === field && one.operator === 'Equals')?.value
}

/** A list calls this for each object. The last result is cached, because neighbours often share a set. */
function oncePerSet(setOf: (object: StoredObject) => FactSet, test: (facts: FactSet['map']) => boolean): Matches {
  const verdicts = new Map<FactSet, boolean>()
  let last: FactSet | undefined
  let verdict = false
  return (object) => {
    const set = setOf(object)
    if (set === last) return verdict
    last = set
    const known = verdicts.get(set)
    verdict = known ?? test(set.map)
    if (known === undefined) verdicts.set(set, verdict)
    return verdict
  }
}
