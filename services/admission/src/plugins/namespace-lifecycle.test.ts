import { type AdmissionAnswer, objectKey } from '@orch/core/contracts'
import { createFakeClock, createTinyStorage, someAttributes } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createAdmission } from '../admission.ts'
import { pluginNeeds } from '../plugin-testing.ts'
import { pluginsAt } from '../registry.ts'

const prefix = 'core/namespaces'

/** A storage whose Namespaces all have this text, or are absent. */
function open(namespaceText?: string) {
  const tiny = createTinyStorage()
  const entry = { key: '', revision: 7, value: Buffer.from(namespaceText ?? ''), metadataStart: 0, metadataEnd: 0, writeId: '' }
  const storage = namespaceText === undefined ? tiny : { ...tiny, get: async () => ({ entry, revision: 7, epoch: tiny.epoch }) }
  const clock = createFakeClock()
  const options = pluginNeeds({ storage, clock })
  const others = pluginsAt(options.catalogue.level).filter((name) => name !== 'NamespaceLifecycle')
  const admission = createAdmission({ ...options, plugins: { enabled: [], disabled: others } })
  onTestFinished(() => admission.close())
  return { storage: tiny, admission, clock }
}

const aCreate = someAttributes()

/** A gateway's inputs without additions. */
const asking = { decisions: [], resumeAt: '', explain: false }

const statusOf = (answer: AdmissionAnswer) => (answer.kind === 'denied' ? answer.status : undefined)

test('an object is created on condition that its namespace is unchanged', async () => {
  const { storage, admission } = open()
  storage.put({ resource: prefix, name: 'team', object: { kind: 'Namespace', apiVersion: 'v1', status: {} } })
  const revision = (await storage.get({ key: objectKey(prefix, undefined, 'team'), read: { kind: 'latest' } })).entry?.revision
  const answer = await admission.admit({ ...asking, phase: 'mutate', attributes: aCreate })
  expect(answer).toMatchObject({ kind: 'allowed', conditions: [{ key: 'core/namespaces/team', revision }] })
})

test('creating an object in an absent namespace is a 404 that names the namespace', async () => {
  const { admission } = open()
  const status = statusOf(await admission.admit({ ...asking, phase: 'mutate', attributes: aCreate }))
  expect(status).toMatchObject({ code: 404, message: 'namespaces "team" not found', details: { name: 'team', kind: 'namespaces' } })
})

test('creating an object in a terminating namespace is forbidden, with the cause', async () => {
  const { admission } = open(
    '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"team","resourceVersion":"7"},"status":{"phase":"Terminating"}}',
  )
  const status = statusOf(await admission.admit({ ...asking, phase: 'mutate', attributes: aCreate }))
  expect(status).toMatchObject({
    code: 403,
    message: 'configmaps "a" is forbidden: unable to create new content in namespace team because it is being terminated',
    details: { causes: [{ reason: 'NamespaceTerminating', message: 'namespace team is being terminated', field: 'metadata.namespace' }] },
  })
})

test.each([
  ['default', 403],
  ['orch-system', 403],
  ['orch-public', 403],
  ['orch-node-lease', undefined],
  ['team', undefined],
])('deleting the namespace %s gets the answer %s', async (name, code) => {
  const { admission } = open()
  const attributes = { ...aCreate, operation: 'DELETE', kind: 'Namespace', resource: 'namespaces', namespace: '', name }
  expect(statusOf(await admission.admit({ ...asking, phase: 'validate', attributes }))?.code).toBe(code)
})

test('a request without a matching admission rule is allowed without a call', async () => {
  const { admission } = open()
  const attributes = { ...aCreate, operation: 'DELETE' }
  expect(await admission.admit({ ...asking, phase: 'mutate', attributes })).toEqual({
    kind: 'allowed',
    object: undefined,
    warnings: [],
    auditAnnotations: [],
    steps: [],
    counts: [],
    conditions: [],
    reservations: [],
  })
})

test('admission rules are sent at once and, to another process, every second, until the service closes', async () => {
  const { admission, clock } = open()
  const own = admission.admissionRules({ isSameProcess: true })[Symbol.asyncIterator]()
  const timers = clock.pendingTimers
  await own.next()
  expect(clock.pendingTimers).toBe(timers)
  const stream = admission.admissionRules({})[Symbol.asyncIterator]()
  const first = await stream.next()
  const second = stream.next()
  clock.advance(1_000)
  expect((await second).value).toEqual(first.value)
  admission.close()
  expect((await stream.next()).done).toBe(true)
})
