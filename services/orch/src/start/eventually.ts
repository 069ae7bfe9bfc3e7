import { type Client, type NamedObject, objectName } from '@orch/client'
import { isJsonObject } from '@orch/core/json'
import { type ApiObject, parseApiVersion } from '@orch/core/meta'

/**
 * The condition for an object, which is undefined while it does not exist: the members that it must have, or a function. A function that returns
 * false or throws is called again after the next change.
 */
export type ObjectMatcher<T> = ((object: T | undefined) => unknown) | Readonly<Record<string, unknown>>

interface State {
  /** The observed states of the object, one per line. */
  readonly timeline: string[]
  object: ApiObject | undefined
  reason: string
}

/** A condition with its deadline. */
interface Waiting<T> {
  readonly matcher: ObjectMatcher<T>
  /** Resolves at the deadline. The signal aborts once no caller waits. */
  readonly end: (signal: AbortSignal) => Promise<void>
  /** The timeout for the message: `5s`. */
  readonly within: string
}

/** Resolves with the object when it matches. Rejects with its timeline at the deadline. */
export async function eventually<T extends ApiObject>(
  client: Client,
  reference: NamedObject,
  { matcher, end, within }: Waiting<T>,
): Promise<T | undefined> {
  const ending = new AbortController()
  const state: State = { timeline: [], object: undefined, reason: '' }
  const late = end(ending.signal).then(() => 'late' as const)
  try {
    const found = await Promise.race([follow(client, reference, { matcher, state, signal: ending.signal }), late])
    if (found !== 'late') return found.object
    const { kind, namespace = 'default', name } = objectName(reference)
    const why = state.reason === '' ? '' : `: ${state.reason}`
    const timeline = state.timeline.length === 0 ? ['it did not exist'] : state.timeline
    throw new Error(`${kind} ${namespace}/${name} has not become as expected within ${within}${why}\n${timeline.join('\n')}`)
  } finally {
    ending.abort()
  }
}

interface Following<T> {
  readonly matcher: ObjectMatcher<T>
  readonly state: State
  readonly signal: AbortSignal
}

async function follow<T extends ApiObject>(
  client: Client,
  reference: NamedObject,
  { matcher, state, signal }: Following<T>,
): Promise<{ readonly object: T | undefined }> {
  const { apiVersion, kind, name, namespace = 'default' } = objectName(reference)
  const { group = '', version = '' } = parseApiVersion(apiVersion) ?? {}
  const found = (await client.discover(group, version)).find((resource) => resource.kind === kind)
  if (found === undefined) throw new TypeError(`eventually(): ${apiVersion} has no kind ${kind}`)
  const resource = client.resource<T>(found)
  const select = { ...(found.namespaced ? { namespace } : {}), fieldSelector: `metadata.name=${name}`, signal }
  const { items, metadata } = await resource.list(select)
  const [first] = items
  note(state, 'FOUND', first)
  if (matches(matcher, first, state)) return { object: first }
  for (let resourceVersion = metadata.resourceVersion ?? ''; ; ) {
    for await (const { type, object } of await resource.watch({ ...select, resourceVersion })) {
      resourceVersion = object.metadata.resourceVersion ?? resourceVersion
      const present = type === 'DELETED' ? undefined : object
      note(state, type, object)
      if (matches(matcher, present, state)) return { object: present }
    }
  }
}

function note(state: State, type: string, object: ApiObject | undefined): void {
  if (object === undefined) return
  const changed = type === 'MODIFIED' ? changesOf(state.object, object, '').slice(0, changesShown) : []
  const managers = type === 'MODIFIED' ? writersOf(state.object, object) : []
  const parts = [`@${object.metadata.resourceVersion} ${type}`, ...managers.map((manager) => `by ${manager}`), ...changed]
  state.timeline.push(parts.join('  '))
  state.object = object
}

/** Managers whose fields or timestamps a write has changed. */
function writersOf(before: ApiObject | undefined, { metadata: { managedFields = [] } }: ApiObject): string[] {
  const known = new Set((before?.metadata.managedFields ?? []).map((entry) => JSON.stringify(entry)))
  const changed = managedFields.filter((entry) => !known.has(JSON.stringify(entry)))
  return [...new Set(changed.map(({ manager }) => manager ?? ''))]
}

/** Maximum number of changed members in one line of a timeline. */
const changesShown = 5

/** Changed members, e.g. `spec.size: 1 → 2`, without those that every write changes. */
function changesOf(before: unknown, after: unknown, path: string): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (!isJsonObject(before) || !isJsonObject(after)) return [`${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => {
    const at = path === '' ? name : `${path}.${name}`
    return unshown.has(at) ? [] : changesOf(before[name], after[name], at)
  })
}

const unshown: ReadonlySet<string> = new Set(['metadata.managedFields', 'metadata.resourceVersion', 'metadata.generation'])

function matches<T>(matcher: ObjectMatcher<T>, object: T | undefined, state: State): boolean {
  if (typeof matcher !== 'function') {
    const missing = object === undefined ? [] : missingIn(object, matcher, '')
    state.reason = missing.slice(0, changesShown).join(', ')
    return object !== undefined && missing.length === 0
  }
  try {
    return matcher(object) !== false
  } catch (error) {
    state.reason = error instanceof Error ? error.message : String(error)
    return false
  }
}

/** Expected members that a value does not have at any depth, e.g. `spec.size: expected 2, found 1`. Lists have as many items as expected. */
function missingIn(value: unknown, expected: unknown, path: string): string[] {
  if (isJsonObject(value) && isJsonObject(expected))
    return Object.entries(expected).flatMap(([name, part]) => missingIn(value[name], part, path === '' ? name : `${path}.${name}`))
  if (Array.isArray(value) && Array.isArray(expected) && value.length === expected.length)
    return expected.flatMap((part, index) => missingIn(value[index], part, `${path}[${index}]`))
  const [found, wanted] = [JSON.stringify(value), JSON.stringify(expected)]
  return found === wanted ? [] : [`${path}: expected ${wanted}, found ${found ?? 'nothing'}`]
}
