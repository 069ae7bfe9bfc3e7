import { isRefusal } from '@orch/client'
import { type ApiObject, printApiVersion } from '@orch/core/meta'
import { type Command, command } from '../command.ts'
import { ageOf, printColumns } from '../output/columns.ts'
import { objectName } from '../resources.ts'
import type { Session } from '../session.ts'
import { readTargets, type Target } from '../targets.ts'
import { CtlError } from '../words.ts'
import { mergePatch } from './edit.ts'

/** One state of an object, with its changes since the previous state. */
interface State {
  readonly event: 'first known' | 'created' | 'changed' | 'deleted'
  readonly object: ApiObject
  readonly changed: readonly string[]
}

/** `orchctl history`. */
export const history: Command = command({
  usage: 'history resource name',
  doc: 'print the changes of an object that the server still remembers, with their managers',
  takesObjects: true,
  flags: { 'no-headers': { word: '', doc: 'Print no headers.' } },
  async run({ terminal, session, flags, rest }) {
    const targets = await readTargets(session, rest, { 'all-namespaces': false })
    const [target] = targets
    if (target?.name === undefined || targets.length > 1) throw new CtlError('one object must be named: history resource name')
    const states = await statesOf(session, target, terminal.signal)
    if (states.length === 0) throw new CtlError(`the server has no changes of ${objectName(target.resource, target.name)} in its history`)
    const rows = states.map(({ event, object, changed }) => [
      object.metadata.resourceVersion ?? '',
      event,
      event === 'deleted' ? '<none>' : lastManager(object),
      changed.length === 0 ? '<none>' : changed.join(' '),
    ])
    terminal.out(printColumns(flags['no-headers'] ? rows : [['REVISION', 'EVENT', 'MANAGER', 'CHANGED'], ...rows]))
  },
})

/** The object at a resource version that the server still has; undefined if absent. */
export async function objectAt(
  session: Session,
  { resource, namespace, name = '' }: Target,
  resourceVersion: string,
): Promise<ApiObject | undefined> {
  if (!/^[1-9]\d*$/.test(resourceVersion))
    throw new CtlError(`"${resourceVersion}" is not a resource version: it must be a positive whole number`)
  const list = await session.client
    .resource(resource)
    .list({ namespace, fieldSelector: `metadata.name=${name}`, resourceVersion, resourceVersionMatch: 'Exact' })
  const [item] = list.items
  if (item === undefined) return undefined
  const { group, version, kind } = resource
  return { ...item, apiVersion: printApiVersion(group, version), kind }
}

/** The states of an object since the oldest readable revision: the state at that revision, then one for each event. */
async function statesOf(session: Session, target: Target, signal: AbortSignal): Promise<State[]> {
  const { resource, namespace, name = '' } = target
  const collection = session.client.resource(resource)
  const select = { namespace, fieldSelector: `metadata.name=${name}` }
  const now = await collection.list(select)
  const latest = Number(now.metadata.resourceVersion)
  const oldest = await oldestRevision(session, target, latest)
  const states: State[] = []
  let before = await objectAt(session, target, String(oldest))
  if (before !== undefined) states.push({ event: 'first known', object: before, changed: [] })
  // Reads events up to the list: a bookmark or a later event shows that this point has passed.
  const ending = new AbortController()
  const events = await collection.watch({
    ...select,
    resourceVersion: String(oldest),
    timeoutSeconds: 1,
    signal: AbortSignal.any([signal, ending.signal]),
  })
  const last = Number(now.items[0]?.metadata.resourceVersion ?? Number.POSITIVE_INFINITY)
  if (last <= oldest) {
    ending.abort()
    return states
  }
  try {
    for await (const { type, object } of events) {
      if (type === 'BOOKMARK') continue
      const event = type === 'DELETED' ? 'deleted' : type === 'ADDED' ? 'created' : 'changed'
      states.push({ event, object, changed: event === 'changed' ? changedPaths(before, object) : [] })
      before = event === 'deleted' ? undefined : object
      if (Number(object.metadata.resourceVersion) >= last) break
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error
  }
  return states
}

/** Uses bisection: one small request per binary digit of the latest revision. */
async function oldestRevision(session: Session, target: Target, latest: number): Promise<number> {
  let [low, high] = [1, latest]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (await canRead(session, target, middle)) high = middle
    else low = middle + 1
  }
  return high
}

async function canRead(session: Session, target: Target, revision: number): Promise<boolean> {
  try {
    await objectAt(session, target, String(revision))
    return true
  } catch (error) {
    if (isRefusal(error, [410])) return false
    throw error
  }
}

/** Differing paths, without those that every write changes. */
function changedPaths(before: ApiObject | undefined, after: ApiObject): string[] {
  if (before === undefined) return []
  const { managedFields: _, resourceVersion: __, ...one } = before.metadata
  const { managedFields: ___, resourceVersion: ____, ...other } = after.metadata
  return pathsOf(mergePatch({ ...before, metadata: one }, { ...after, metadata: other }), '')
}

function pathsOf(patch: unknown, path: string): string[] {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return path === '' ? [] : [path]
  const members = Object.entries(patch)
  return members.length === 0 ? [path] : members.flatMap(([key, value]) => pathsOf(value, `${path}.${key}`))
}

/** The last writer, its operation, and the age of the write. */
function lastManager({ metadata: { managedFields = [] } }: ApiObject): string {
  const last = managedFields.reduce<(typeof managedFields)[number] | undefined>(
    (latest, entry) => (latest?.time === undefined || (entry.time ?? '') >= latest.time ? entry : latest),
    undefined,
  )
  if (last === undefined) return '<unknown>'
  return `${last.manager} (${last.operation}${last.subresource === undefined ? '' : ` of ${last.subresource}`}, ${ageOf(last.time)})`
}
