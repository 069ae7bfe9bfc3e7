import { createCatalogue } from '@orch/core/catalogue'
import { type CommitOutcome, type CommitRequest, UnknownOutcomeError } from '@orch/core/contracts'
import { type ApiObject, conflict, type ObjectMeta, StatusError, timeout } from '@orch/core/meta'
import { decodeStored } from '@orch/core/stored'
import { systemChance } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { LiveCatalogue } from '../custom-resources/live-catalogue.ts'
import { createDraws } from '../request/draws.ts'
import { createServedResources, type Target } from '../target/target.ts'
import { commitChange, commitNew, commitRemoval, removeReleased } from './commit.ts'
import { Draft, type WriteStep } from './draft.ts'
import { RecentObjects } from './recent-objects.ts'

const catalogue = createCatalogue('orch')
const resources = createServedResources(new LiveCatalogue(catalogue))
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function targetOf(plural: string, group = ''): Target {
  const served = resources.find(group, 'v1', plural)
  if (served === undefined) throw new Error(`no resource ${plural}`)
  return {
    served,
    subresource: undefined,
    info: { namespace: 'n', name: '' },
    keyPrefix: `${served.resource.stored.prefix}/n/`,
  } as unknown as Target
}

interface Around {
  /** Storage's answer to a commit. */
  readonly commit?: () => Promise<CommitOutcome>
  /** The present entry of the object's key. */
  readonly entry?: object
  readonly target?: Target
  readonly name?: string
  readonly isDryRun?: boolean
  readonly trace?: unknown
  readonly eventTtlMs?: number
}

const written = async (): Promise<CommitOutcome> => ({ kind: 'written', revision: 8 })
const anObject = (metadata: ObjectMeta = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n', uid: 'u', ...metadata },
})

/** Takes a step that commits: its draft, the commit, and its other requests and reports. */
async function taken(
  step: WriteStep<never, never>,
  { object, before }: { object: ApiObject; before?: ApiObject | undefined },
  { commit = written, entry, target = targetOf('configmaps'), name = '', isDryRun = false, trace, eventTtlMs }: Around = {},
) {
  const said: unknown[] = []
  const commits: CommitRequest[] = []
  const clock = createFakeClock(1_000)
  const recent = new RecentObjects()
  const explanation = { stored: (revision: number) => said.push(`stored ${revision}`) }
  const request = { deadlineMs: clock.monotonic() + 50, auditId: 'r', user: { name: 'jane' }, trace, explanation }
  const value = Buffer.from(JSON.stringify(before ?? object))
  const live =
    before === undefined ? undefined : { object: before, isAsDecoded: true, hasBigIntegers: false, entry: { key: 'k', revision: 7, value } }
  const write = { request, target, name, options: { isDryRun } }
  const draft = new Draft(write as never, live as never, { object, hasBigIntegers: false, body: object }) as Draft<never>
  const parts = {
    names: catalogue.names,
    clock,
    draws: createDraws(systemChance),
    recent,
    eventTtlMs,
    log: { warn: (fields: object, text: string) => said.push([fields, text]), debug: () => {} },
    storage: {
      async get({ key, read }: { key: string; read: { kind: string } }) {
        said.push(`${read.kind} ${key}`)
        return { entry }
      },
      async commit(one: CommitRequest) {
        commits.push(one)
        said.push(draft.isSent && draft.object.kind === '' ? 'sent' : 'not sent')
        return commit()
      },
    },
  }
  const ended = await Promise.resolve(step(draft as never, parts as never)).catch((error: unknown) => error)
  return { draft, commits, said, recent, refusal: ended instanceof StatusError ? ended.status : ended }
}

const change = { object: anObject({ labels: { a: 'b' } }), before: anObject() }
const removal = { object: anObject(), before: anObject() }

test('a committed write is explained with its revision, and a refused write is not', async () => {
  const stale = { commit: async (): Promise<CommitOutcome> => ({ kind: 'stale' }) }
  for (const [step, objects, kind] of [
    [commitNew, { object: anObject() }, 'created'],
    [commitChange, change, 'updated'],
    [commitRemoval, removal, 'removed'],
  ] as const) {
    const done = await taken(step, objects)
    expect(done.said).toEqual(['sent', 'stored 8'])
    expect([done.draft.outcome?.kind, done.draft.revision, done.draft.isSent]).toEqual([kind, 8, true])
    const lost = await taken(step, objects, { ...stale, name: 'a' })
    expect(lost.said).toEqual(['sent'])
    expect([lost.draft.outcome?.kind, lost.draft.revision, lost.draft.isSent]).toEqual(['again', undefined, true])
  }
})

test.each([
  ['with a span', { span: { traceparent } }, true],
  ['without a span', {}, false],
  ['without a trace', undefined, false],
])('the id of the write of a request %s', async (_which, trace, isTraced) => {
  for (const [step, objects] of [
    [commitChange, change],
    [commitRemoval, removal],
  ] as const) {
    const { commits } = await taken(step, objects, { trace })
    expect(commits.map(({ writeId }) => writeId.includes(traceparent))).toEqual([isTraced])
  }
})

test('STORE-05: a commit with a lost answer is looked up, and the log names the key; a refused commit is not', async () => {
  const refused = await taken(commitChange, change, { commit: () => Promise.reject(conflict({ group: '', resource: 'x' }, 'a')) })
  expect(refused.refusal).toMatchObject({ code: 409 })
  expect(refused.said).toEqual(['sent'])
  for (const cause of [new Error('the connection has broken'), new UnknownOutcomeError(timeout('late').status)]) {
    let isLost = true
    const commit = async () => {
      if (!isLost) return written()
      isLost = false
      throw cause
    }
    const again = await taken(commitChange, change, { commit, entry: { revision: 7, writeId: 'other' } })
    const warning = [{ err: cause, key: 'k' }, expect.any(String)]
    expect(again.said.slice(0, 3)).toEqual(['sent', warning, 'latest k'])
    expect([again.draft.outcome?.kind, again.draft.revision]).toEqual(['updated', 8])
    expect(new Set(again.commits.map(({ writeId }) => writeId)).size).toBe(1)
  }
})

test('DEL-06: an update that clears the last obstacle to a deletion removes the object, and each obstacle keeps it', async () => {
  const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  const isRemoved = async (before: ObjectMeta, after: ObjectMeta, target = targetOf('configmaps'), fields: object = {}) => {
    const object = { ...anObject(after), ...fields }
    const { commits, draft } = await taken(removeReleased, { object, before: anObject(before) }, { target })
    expect(commits.map(({ expected, value }) => [expected, value])).toEqual(draft.outcome === undefined ? [] : [[7, undefined]])
    return draft.outcome?.kind
  }
  expect(await isRemoved(gone, gone)).toBe('removed')
  expect(await isRemoved(gone, { ...gone, finalizers: [] })).toBe('removed')
  expect(await isRemoved({ ...gone, deletionGracePeriodSeconds: 0 }, gone)).toBe('removed')
  expect(await isRemoved({ ...gone, deletionGracePeriodSeconds: 1 }, gone)).toBeUndefined()
  expect(await isRemoved(gone, { ...gone, finalizers: ['example.com/a'] })).toBeUndefined()
  expect(await isRemoved({}, {})).toBeUndefined()
  expect(await isRemoved(gone, gone, targetOf('namespaces'), { spec: { finalizers: ['kubernetes'] } })).toBeUndefined()
  expect(await isRemoved(gone, gone, targetOf('namespaces'), { spec: {} })).toBe('removed')
})

test('DRY-10: a dry run of a create reads the latest state, refuses a taken name, and commits nothing', async () => {
  const free = await taken(commitNew, { object: anObject() }, { isDryRun: true })
  expect([free.commits, free.said]).toEqual([[], ['latest core/configmaps/n/a']])
  expect(free.draft.outcome).toMatchObject({ kind: 'created', uid: 'u' })
  const value = Buffer.from(JSON.stringify(anObject()))
  const full = await taken(commitNew, { object: anObject() }, { isDryRun: true, entry: { revision: 3, value } })
  expect(full.refusal).toMatchObject({ code: 409, reason: 'AlreadyExists' })
  expect([full.commits, full.draft.outcome]).toEqual([[], undefined])
})

test.each<[string, CommitOutcome, ObjectMeta, string, unknown]>([
  ['a name in the body that is taken', { kind: 'stale' }, {}, '', 'AlreadyExists'],
  ['a name in the path that is taken', { kind: 'stale' }, {}, 'a', { kind: 'again' }],
  ['a condition that no longer holds', { kind: 'unmet', index: 0 }, {}, '', { kind: 'again' }],
  [
    'a generated name that is taken',
    { kind: 'stale' },
    { name: '', generateName: 'a' },
    '',
    { kind: 'again', refusal: { status: { details: { retryAfterSeconds: 1 }, reason: 'AlreadyExists' } } },
  ],
  ['a name beside a prefix', { kind: 'stale' }, { generateName: 'b' }, '', 'AlreadyExists'],
])('META-09: a create meets %s', async (_what, outcome, metadata, name, expected) => {
  const { draft, refusal } = await taken(commitNew, { object: anObject(metadata) }, { name, commit: async () => outcome })
  if (typeof expected === 'string') expect([draft.outcome, refusal]).toEqual([undefined, expect.objectContaining({ reason: expected })])
  else expect([draft.outcome, refusal]).toMatchObject([expected, undefined])
})

test('a create of a taken name says that the object is in deletion, and is a conflict if the object cannot be read', async () => {
  const gone = anObject({ deletionTimestamp: '2026-01-01T00:00:00Z' })
  for (const [value, front] of [
    [Buffer.from(JSON.stringify(anObject())), ''],
    [Buffer.from(JSON.stringify(gone)), 'object is being deleted: '],
    ['damaged', ''],
  ] as const) {
    const { refusal } = await taken(commitNew, { object: anObject() }, { entry: { value }, commit: async () => ({ kind: 'stale' }) })
    expect(refusal).toMatchObject({ code: 409, message: `${front}configmaps "a" already exists` })
  }
})

test('only an Event expires, and only if events have a lifetime', async () => {
  const expiry = async (plural: string, eventTtlMs?: number) => {
    const around = { target: targetOf(plural), ...(eventTtlMs === undefined ? {} : { eventTtlMs }) }
    const { commits } = await taken(commitNew, { object: anObject() }, around)
    return decodeStored(commits[0]?.value ?? new Uint8Array()).expiresAtMs
  }
  expect([await expiry('events', 500), await expiry('events'), await expiry('configmaps', 500)]).toEqual([1_500, 0, 0])
})

test('a changed object is cached in its stored form, and a new or deleted object is not', async () => {
  const { draft, recent } = await taken(commitChange, change)
  const json = (draft.outcome as { json: Uint8Array }).json
  expect(recent.find('k', json, 8)).toEqual(JSON.parse(Buffer.from(json).toString()))
  expect(recent.find('k', json, 8)?.metadata).toMatchObject({ resourceVersion: '8', labels: { a: 'b' } })
  const created = await taken(commitNew, { object: anObject() })
  const { commits, draft: ofNew } = created
  expect(created.recent.find(commits[0]?.key ?? '', (ofNew.outcome as { json: Uint8Array }).json, 8)).toBeUndefined()
})
