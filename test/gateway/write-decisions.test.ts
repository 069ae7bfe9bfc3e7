import type { CommitRequest } from '@orch/core/contracts'
import type { ApiObject, ManagedFieldsEntry } from '@orch/core/meta'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { aGateway, allConfigMaps, anAdmission, collection, configMap, merge, saidNothing } from './own-gateway.ts'

const json = 'application/json'
const options = (fields: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...fields })

/** A gateway with its commits of objects, and the result of one request as an object. */
async function aWatchedGateway(...[spoil, settings]: Parameters<typeof aGateway>) {
  const commits: CommitRequest[] = []
  const gateway = await aGateway(
    (storage) => {
      const own = spoil?.(storage) ?? {}
      return {
        ...own,
        commit(request, context) {
          commits.push(request)
          return (own.commit ?? storage.commit)(request, context)
        },
      }
    },
    { ...settings },
  )
  const ask = async (method: string, path: string, body?: unknown, type?: string) => {
    const { code, warning, body: answered } = await gateway.call(method, path, body, type)
    return { code, warning, object: answered as unknown as ApiObject, message: answered.message }
  }
  return { ...gateway, ask, commits }
}

const owner = (manager: string): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:x': {} } },
})
const owners = (count: number) => Array.from({ length: count }, (_, index) => owner(`m${String(index).padStart(4, '0')}`))

test('LIM-12: an update may keep the number of managedFields entries, and otherwise up to a thousand', async () => {
  const { ask, storage } = await aWatchedGateway()
  const stored = async (name: string, count: number) => {
    const metadata = { name, namespace: 'default', uid: `u${name}`, managedFields: owners(count) }
    const encoded = encodeObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { x: '1' } })
    const value = encodeStored({ fingerprint: 1, writeId: name, expiresAtMs: 0, encoded, labels: {}, fields: {} })
    await storage.commit({ key: `core/configmaps/default/${name}`, expected: 0, conditions: [], value, writeId: name })
  }
  const put = async (name: string, count: number) => {
    const { code, message } = await ask('PUT', `${collection}/${name}`, {
      ...configMap({ x: '2' }),
      metadata: { name, managedFields: owners(count) },
    })
    return [code, message]
  }
  const refused = (count: number, most: number) => [
    422,
    `ConfigMap "${most > 1000 ? 'many' : 'few'}" is invalid: metadata.managedFields: Too many: ${count}: must have at most ${most} items`,
  ]
  await stored('few', 3)
  expect(await put('few', 1001)).toEqual(refused(1001, 1000))
  expect(await put('few', 1000)).toEqual([200, undefined])
  await stored('many', 1003)
  expect(await put('many', 1004)).toEqual(refused(1004, 1003))
  expect(await put('many', 1003)).toEqual([200, undefined])
})

test('LIM-12: a create may have at most a thousand managedFields entries', async () => {
  const { ask } = await aWatchedGateway()
  const post = async (name: string, count: number) =>
    (await ask('POST', collection, { ...configMap({ x: '1' }), metadata: { name, managedFields: owners(count) } })).code
  expect([await post('a', 1001), await post('b', 1000)]).toEqual([422, 201])
})

test('VERB-09: retried creates with generated names do not wait for one another', async () => {
  const both = Promise.withResolvers<void>()
  let begun = 0
  const { ask } = await aWatchedGateway((storage) => ({
    async commit(request, context) {
      begun += 1
      if (begun <= 2) return { kind: 'stale' }
      if (begun === 4) both.resolve()
      // Each write continues when the other has reached its second attempt.
      await both.promise
      return storage.commit(request, context)
    },
  }))
  const generated = { ...configMap(), metadata: { generateName: 'a-' } }
  const [first, second] = await Promise.all([ask('POST', collection, generated), ask('POST', collection, generated)])
  expect([first.code, second.code]).toEqual([201, 201])
})

test('META-09: a name takes precedence over generateName, and a taken one is refused at once', async () => {
  const { ask, commits } = await aWatchedGateway()
  await ask('POST', collection, configMap())
  const { code, message } = await ask('POST', collection, { ...configMap(), metadata: { name: 'a', generateName: 'b-' } })
  const taken = 'configmaps "a" already exists, the server was not able to generate a unique name for the object'
  expect({ code, message, commits: commits.length }).toEqual({ code: 409, message: taken, commits: 2 })
})

test('VERB-09: a PUT that loses a create to another client replaces the object', async () => {
  const ranges = '/api/v1/namespaces/default/limitranges'
  const range = (cpu: string) => ({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Pod', max: { cpu } }] },
  })
  let other: string | undefined = '1'
  const { ask, call, commits } = await aWatchedGateway((storage) => ({
    async commit(request, context) {
      if (other === undefined) return storage.commit(request, context)
      const faster = range(other)
      other = undefined
      await call('PUT', `${ranges}/l`, faster)
      return storage.commit(request, context)
    },
  }))
  const { code, object } = await ask('PUT', `${ranges}/l`, range('2'))
  expect({ code, spec: object['spec'] }).toEqual({ code: 200, spec: range('2').spec })
  expect(commits.map(({ expected }) => expected > 0)).toEqual([false, false, true])
})

test('VERB-09: a PUT that creates is retried while others create and delete', async () => {
  let lost = 3
  const { ask, commits } = await aWatchedGateway((storage) => ({
    commit: async (request, context) => (lost-- > 0 ? { kind: 'stale' } : storage.commit(request, context)),
  }))
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }
  expect((await ask('PUT', '/api/v1/namespaces/default/limitranges/l', range)).code).toBe(201)
  expect(commits).toHaveLength(4)
})

test('VERB-06: a refusal on the latest object is not checked again, and neither is a create', async () => {
  const reads: string[] = []
  const { ask } = await aWatchedGateway((storage) => ({
    get(request, context) {
      if (request.key.startsWith('core/configmaps/')) reads.push(`${request.read.kind} ${request.key.slice('core/configmaps/'.length)}`)
      return storage.get(request, context)
    },
  }))
  expect((await ask('PUT', `${collection}/a`, configMap())).code).toBe(404)
  expect(reads.splice(0)).toEqual(['any default/a', 'latest default/a'])
  expect((await ask('POST', collection, { ...configMap(), metadata: { name: 'A B' } })).code).toBe(422)
  expect(reads).toEqual([])
})

test('VERB-06: a refusal on an object that was reread is final at once', async () => {
  const reads: string[] = []
  const { ask } = await aWatchedGateway((storage) => ({
    async get(request, context) {
      const answer = await storage.get(request, context)
      if (request.key !== 'core/configmaps/default/a') return answer
      reads.push(request.read.kind)
      // The cache does not have the object yet.
      return request.read.kind === 'any' ? { revision: answer.revision, epoch: answer.epoch } : answer
    },
  }))
  await ask('POST', collection, configMap())
  const other = { ...configMap(), metadata: { name: 'a', uid: 'of-another' } }
  expect((await ask('PUT', `${collection}/a`, other)).code).toBe(409)
  // The cache, its present revision and its present object; its refusal needs no second read.
  expect(reads).toEqual(['any', 'latest', 'latest'])
})

test('DRY-10, DRY-01: a dry run writes nothing, with any outcome', async () => {
  const { ask, commits } = await aWatchedGateway()
  const held = { ...configMap(), metadata: { name: 'a', finalizers: ['example.com/a'] } }
  const withoutCommit = async (...[method, path, body, type]: Parameters<typeof ask>) => {
    const before = commits.length
    const { code, object } = await ask(method, `${path}?dryRun=All`, body, type)
    expect(commits.length, `${method} ${path}`).toBe(before)
    return { code, object }
  }
  expect((await withoutCommit('POST', collection, held)).object.metadata.resourceVersion).toBeUndefined()
  const made = await ask('POST', collection, held)
  const { resourceVersion } = made.object.metadata
  const updated = await withoutCommit('PATCH', `${collection}/a`, { data: { x: '1' } }, merge)
  expect(updated.object).toMatchObject({ data: { x: '1' }, metadata: { resourceVersion } })
  const marked = await withoutCommit('DELETE', `${collection}/a`)
  expect(marked.object.metadata).toMatchObject({ resourceVersion, deletionTimestamp: expect.any(String) })
  expect((await ask('GET', `${collection}/a`)).object).toEqual(made.object)
  await ask('DELETE', `${collection}/a`)
  const last = await withoutCommit('PATCH', `${collection}/a`, { metadata: { finalizers: null } }, merge)
  expect(last.code).toBe(200)
  expect((await ask('GET', `${collection}/a`)).object.metadata.finalizers).toEqual(['example.com/a'])
  await ask('PATCH', `${collection}/a`, { metadata: { finalizers: null } }, merge)
  await ask('POST', collection, configMap())
  expect((await withoutCommit('DELETE', `${collection}/a`)).code).toBe(200)
  expect((await ask('GET', `${collection}/a`)).code).toBe(200)
})

test('the conditions of admission for a write are conditions of its commit: create, update, mark and removal', async () => {
  const admission = anAdmission(allConfigMaps)
  admission.admit = async ({ phase }) => ({ kind: 'allowed', ...saidNothing, conditions: [{ key: `k/${phase}`, revision: 0 }] })
  const { ask, commits } = await aWatchedGateway(undefined, { admission })
  const both = [
    { key: 'k/mutate', revision: 0 },
    { key: 'k/validate', revision: 0 },
  ]
  await ask('POST', collection, { ...configMap(), metadata: { name: 'a', finalizers: ['example.com/a'] } })
  await ask('PATCH', `${collection}/a`, { data: { x: '1' } }, merge)
  await ask('DELETE', `${collection}/a`)
  await ask('PATCH', `${collection}/a`, { data: { x: '2' } }, merge)
  await ask('POST', collection, { ...configMap(), metadata: { name: 'b' } })
  await ask('DELETE', `${collection}/b`)
  const asked = commits.map(({ key, value, conditions }) => [key.slice(-1), value === undefined, conditions])
  expect(asked).toEqual([
    ['a', false, both],
    ['a', false, both],
    ['a', false, both],
    ['a', false, both],
    ['b', false, both],
    ['b', true, both],
  ])
})

test.each(['mark', 'removal'])('VERB-09: a deletion whose %s lost a race is retried', async (which) => {
  const finalizers = which === 'mark' ? ['example.com/a'] : []
  let unmet = 2
  const { ask } = await aWatchedGateway((storage) => ({
    async commit(request, context) {
      if (request.expected > 0 && unmet-- > 0) return { kind: 'unmet', index: 0 }
      return storage.commit(request, context)
    },
  }))
  await ask('POST', collection, { ...configMap(), metadata: { name: 'a', finalizers } })
  expect((await ask('DELETE', `${collection}/a`)).code).toBe(200)
  const { code, object } = await ask('GET', `${collection}/a`)
  expect([code, object.metadata.deletionTimestamp]).toEqual(which === 'mark' ? [200, expect.any(String)] : [404, undefined])
})

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: { selector: { matchLabels: { a: 'b' } }, template },
}

test('DEL-02: the generation grows when an object is marked as deleted, and not with later changes of the mark', async () => {
  const { ask } = await aWatchedGateway()
  await ask('POST', deployments, deployment)
  const marked = await ask('DELETE', `${deployments}/d`, options({ propagationPolicy: 'Foreground' }))
  expect(marked.object.metadata).toMatchObject({ generation: 2, finalizers: ['foregroundDeletion'] })
  const again = await ask('DELETE', `${deployments}/d`, options({ propagationPolicy: 'Orphan' }))
  expect(again.object.metadata).toMatchObject({ generation: 2, finalizers: ['orphan'] })
})

test('DEL-11: a grace period beyond any date ends with the year 9999, and a later period counts from the first deletion', async () => {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  const { ask } = await aWatchedGateway(undefined, { clock })
  const pods = '/api/v1/namespaces/default/pods'
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
  await ask('POST', pods, pod)
  const gracePeriodSeconds = Number.MAX_SAFE_INTEGER
  const long = await ask('DELETE', `${pods}/p`, options({ gracePeriodSeconds }))
  expect(long.object.metadata).toMatchObject({ deletionTimestamp: '9999-12-31T23:59:59Z', deletionGracePeriodSeconds: gracePeriodSeconds })
  await ask('POST', pods, { ...pod, metadata: { name: 'q' } })
  const first = await ask('DELETE', `${pods}/q`, options({ gracePeriodSeconds: 100 }))
  expect(first.object.metadata.deletionTimestamp).toBe('2026-01-01T00:01:40Z')
  clock.advance(5_000)
  const second = await ask('DELETE', `${pods}/q`, options({ gracePeriodSeconds: 60 }))
  expect(second.object.metadata).toMatchObject({ deletionTimestamp: '2026-01-01T00:01:00Z', deletionGracePeriodSeconds: 60 })
})

test('DEL-12: a propagation policy that removes the last finalizer of a Pod in its grace period leaves none', async () => {
  const { ask } = await aWatchedGateway()
  const pods = '/api/v1/namespaces/default/pods'
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } }
  await ask('POST', pods, pod)
  const first = await ask('DELETE', `${pods}/p`, options({ propagationPolicy: 'Foreground' }))
  expect(first.object.metadata.finalizers).toEqual(['foregroundDeletion'])
  const second = await ask('DELETE', `${pods}/p`, options({ propagationPolicy: 'Background' }))
  expect(second.object.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 })
  expect(second.object.metadata).not.toHaveProperty('finalizers')
})

test('a status whose feature is off is not written', async () => {
  const { ask } = await aWatchedGateway()
  const policies = '/apis/networking.orch.io/v1/namespaces/default/networkpolicies'
  const policy = { apiVersion: 'networking.orch.io/v1', kind: 'NetworkPolicy', metadata: { name: 'n' }, spec: { podSelector: {} } }
  await ask('POST', policies, policy)
  const before = (await ask('GET', `${policies}/n`)).object['status']
  const condition = { type: 'T', status: 'True', reason: 'R', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const { code, object } = await ask('PATCH', `${policies}/n/status`, { status: { conditions: [condition] } }, merge)
  expect([code, object['status']]).toEqual([200, before])
})

test('a write of an object causes warnings about it, and a write of its status does not', async () => {
  const { ask } = await aWatchedGateway()
  const jobs = '/apis/batch/v1/namespaces/default/cronjobs'
  const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } }
  const job = { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'j' }, spec: { schedule: 'TZ=UTC * * * * *', jobTemplate } }
  const created = await ask('POST', jobs, job)
  expect(created).toMatchObject({ code: 201, warning: expect.stringContaining('TZ used in spec.spec.schedule') })
  const updated = await ask('PATCH', `${jobs}/j`, { spec: { suspend: true } }, merge)
  expect(updated).toMatchObject({ code: 200, warning: created.warning })
  const ofStatus = await ask('PATCH', `${jobs}/j/status`, { status: { lastScheduleTime: '2026-01-01T00:00:00Z' } }, merge)
  expect(ofStatus).toMatchObject({ code: 200, warning: undefined, object: { status: { lastScheduleTime: '2026-01-01T00:00:00Z' } } })
})

test.each<[string, string, unknown, string]>([
  ['PUT', '', { ...deployment, status: { replicas: 9 } }, json],
  ['PATCH', '', { status: { replicas: 9 } }, merge],
])('SSA-66: a %s of an object leaves its status unchanged, with and without a status', async (method, _which, body, type) => {
  const { ask } = await aWatchedGateway()
  const made = await ask('POST', deployments, { ...deployment, status: { replicas: 7 } })
  expect(made.object['status']).toEqual({})
  expect((await ask(method, `${deployments}/d`, body, type)).object['status']).toEqual({})
  await ask('PATCH', `${deployments}/d/status`, { status: { replicas: 3 } }, merge)
  expect((await ask(method, `${deployments}/d`, body, type)).object['status']).toEqual({ replicas: 3 })
})

test('META-21: the generation of an object grows only with changes of its spec', async () => {
  const { ask } = await aWatchedGateway()
  await ask('POST', deployments, deployment)
  const after = async (path: string, body: unknown) =>
    (await ask('PATCH', `${deployments}/d${path}`, body, merge)).object.metadata.generation
  expect([
    await after('', { metadata: { labels: { x: 'y' }, generation: 7 } }),
    await after('/status', { status: { replicas: 1 } }),
    await after('', { spec: { paused: true } }),
  ]).toEqual([1, 1, 2])
  await ask('PATCH', `${deployments}/d/scale`, { spec: { replicas: 2 } }, merge)
  expect((await ask('GET', `${deployments}/d`)).object.metadata.generation).toBe(3)
})
