import { type AdmissionRulesPart, type CommitRequest, type StorageService, UnknownOutcomeError } from '@orch/core/contracts'
import { isJsonObject } from '@orch/core/json'
import { type ObjectMeta, serviceUnavailable, timeout } from '@orch/core/meta'
import { assemble, decodeStored, encodeObject, encodeStored } from '@orch/core/stored'
import { PushStream } from '@orch/platform'
import { createFakeClock, type FakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { aGateway, allConfigMaps, anAdmission, collection, configMap, merge, type Spoil, saidNothing } from './own-gateway.ts'

/** Commits, then loses the answer a given number of times. */
const losing =
  (count: number, isWritten: boolean): Spoil =>
  (storage) => {
    let lost = 0
    return {
      async commit(request: CommitRequest, context) {
        if (lost++ >= count) return storage.commit(request, context)
        if (isWritten) await storage.commit(request, context)
        throw new Error('the connection has broken')
      },
    }
  }

test('STORE-05: a create whose answer was lost has succeeded once', async () => {
  const { call } = await aGateway(losing(1, true))
  const { code, body } = await call('POST', collection, configMap({ x: '1' }))
  expect(code).toBe(201)
  expect((await call('GET', `${collection}/a`)).body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
})

test('STORE-05: a create that did not arrive is a 504, never a 404 or a 409', async () => {
  const { call } = await aGateway(losing(1, false))
  expect(await call('POST', collection, configMap())).toMatchObject({ code: 504, body: { reason: 'Timeout' } })
  expect((await call('GET', `${collection}/a`)).code).toBe(404)
})

test.each([
  ['a name', { name: 'a' }],
  ['a name that the server makes up', { generateName: 'a' }],
])('VERB-09: a create with %s that lost a race is retried with the whole input', async (_how, metadata) => {
  const tries: string[] = []
  const { call } = await aGateway((storage) => ({
    async commit(request: CommitRequest, context) {
      tries.push(request.key)
      return tries.length < 3 ? { kind: 'unmet', index: 0 } : storage.commit(request, context)
    },
  }))
  const sent = { ...configMap({ x: '1', y: '2' }), metadata: { ...metadata, labels: { app: 'web' } } }
  const { code, body } = await call('POST', collection, sent)
  expect({ code, body }).toMatchObject({ code: 201, body: sent })
  expect(tries).toHaveLength(3)
  expect((await call('GET', `${collection}/${tries[2]?.split('/').at(-1)}`)).body).toEqual(body)
})

test("VERB-09: a retried create has the original body, even if the sender's bytes change later", async () => {
  const body = Buffer.from(JSON.stringify(configMap({ x: 'sent' })))
  const { call, send } = await aGateway((storage) => ({
    async commit(request: CommitRequest, context) {
      const isFirst = body.includes('sent')
      body.fill(' ')
      return isFirst ? { kind: 'unmet', index: 0 } : storage.commit(request, context)
    },
  }))
  const { status } = await send({ method: 'POST', path: collection, headers: { 'content-type': 'application/json' }, body })
  expect(status).toBe(201)
  expect((await call('GET', `${collection}/a`)).body.data).toEqual({ x: 'sent' })
})

test('STORE-05: the outcome is looked up as well if the connection to another process reports it as unknown', async () => {
  const { call } = await aGateway(losingFirstAnswers(new UnknownOutcomeError(serviceUnavailable('a service cannot be reached').status)))
  expect((await call('POST', collection, configMap({ x: '1' }))).code).toBe(201)
  expect((await call('DELETE', `${collection}/a`)).code).toBe(200)
})

test.each([
  ['PUT', configMap({ x: '1' }), 'application/json'],
  ['PATCH', { data: { x: '1' } }, 'application/merge-patch+json'],
  ['DELETE', undefined, 'application/json'],
])('STORE-05: a %s with an unknown outcome is a 504, and is not restarted', async (method, body, type) => {
  let commits = 0
  let isAway = false
  const { call } = await aGateway((storage) => ({
    async commit(request, context) {
      commits += 1
      const outcome = await storage.commit(request, context)
      isAway = request.expected !== 0
      if (isAway) throw new UnknownOutcomeError(serviceUnavailable('a service cannot be reached').status)
      return outcome
    },
    async get(request, context) {
      if (isAway) throw serviceUnavailable('a service cannot be reached')
      return storage.get(request, context)
    },
  }))
  await call('POST', collection, configMap())
  // The request's time limit ends before storage is back.
  expect(await call(method, `${collection}/a?timeout=200ms`, body, type)).toMatchObject({ code: 504, body: { reason: 'Timeout' } })
  expect(commits).toBe(2)
})

/** A storage that loses the answer to the first commit of an update or a delete, after or without the write. */
function losingOneAnswer(isWritten: boolean) {
  const sent: CommitRequest[] = []
  const over = (storage: StorageService): Partial<StorageService> => ({
    async commit(request, context) {
      if (request.expected === 0 && request.value !== undefined) return storage.commit(request, context)
      sent.push(request)
      if (sent.length > 1) return storage.commit(request, context)
      if (isWritten) await storage.commit(request, context)
      throw new UnknownOutcomeError(timeout('a service has not answered in time').status)
    },
  })
  return { sent, over }
}

test.each([
  ['PUT', configMap({ x: '1' }), 'application/json'],
  ['PATCH', [{ op: 'add', path: '/metadata/finalizers/-', value: 'a.example.com/b' }], 'application/json-patch+json'],
  ['DELETE', undefined, 'application/json'],
])('STORE-05: a %s whose commit had no answer is sent again with the same id if it was not written', async (method, body, type) => {
  const found: unknown[] = []
  for (const isWritten of [false, true]) {
    const { sent, over } = losingOneAnswer(isWritten)
    const { call } = await aGateway(over)
    await call('POST', collection, { ...configMap(), metadata: { name: 'a', finalizers: ['a.example.com/a'] } })
    const { code } = await call(method, `${collection}/a`, body, type)
    const { metadata, data } = (await call('GET', `${collection}/a`)).body
    const { finalizers, deletionTimestamp } = metadata as ObjectMeta
    const ids = new Set(sent.map(({ writeId }) => writeId)).size
    found.push({ code, sent: sent.length, ids, finalizers, data, isGoing: deletionTimestamp !== undefined })
  }
  const [again, once] = found
  expect(again).toMatchObject({ code: 200, sent: 2, ids: 1 })
  expect(once).toEqual({ ...(again as object), sent: 1 })
})

test('STORE-05: a commit without an answer has lost the race if another write has replaced the expected revision', async () => {
  let isOver = false
  const { call } = await aGateway((storage) => ({
    async commit(request, context) {
      if (isOver || request.expected === 0) return storage.commit(request, context)
      isOver = true
      const value = assemble({ ...decodeStored(request.value as Uint8Array), writeId: 'another' })
      await storage.commit({ ...request, value, writeId: 'another' }, context)
      throw new UnknownOutcomeError(timeout('a service has not answered in time').status)
    },
  }))
  const { metadata } = (await call('POST', collection, configMap())).body
  const sent = { ...configMap({ x: '1' }), metadata }
  expect(await call('PUT', `${collection}/a`, sent)).toMatchObject({ code: 409, body: { reason: 'Conflict' } })
})

test('STORE-05: a create whose commit had no answer is looked up, and never sent a second time', async () => {
  const ids: string[] = []
  const { call } = await aGateway(() => ({
    async commit({ key, writeId }) {
      if (key.startsWith('core/configmaps/')) ids.push(writeId)
      throw new UnknownOutcomeError(timeout('a service has not answered in time').status)
    },
  }))
  expect(await call('POST', `${collection}?timeout=200ms`, configMap())).toMatchObject({ code: 504, body: { reason: 'Timeout' } })
  expect(ids).toHaveLength(1)
})

test('STORE-05: a write whose answer was lost is found in the past of the object', async () => {
  let isOver = false
  const { call } = await aGateway((storage) => ({
    async commit(request, context) {
      const outcome = await storage.commit(request, context)
      if (isOver || request.expected === 0 || outcome.kind !== 'written') return outcome
      isOver = true
      // Another client writes before the gateway reads.
      const value = assemble({ ...decodeStored(request.value as Uint8Array), writeId: 'another' })
      await storage.commit({ ...request, value, expected: outcome.revision, writeId: 'another' }, context)
      throw new Error('the connection has broken')
    },
  }))
  const created = await call('POST', collection, configMap())
  const updated = await call('PUT', `${collection}/a`, configMap({ x: '1' }))
  expect(updated.code).toBe(200)
  expect(Number(updated.body.metadata.resourceVersion)).toBe(Number(created.body.metadata.resourceVersion) + 1)
})

test('STORE-05: a delete whose answer was lost has succeeded', async () => {
  const { call } = await aGateway(losingFirstAnswers(new Error('the connection has broken')))
  await call('POST', collection, configMap())
  expect((await call('DELETE', `${collection}/a`)).code).toBe(200)
})

test('STORE-05: a delete whose answer was lost has not succeeded if another client deleted first', async () => {
  let count = 0
  const { call } = await aGateway((storage) => ({
    async commit(request, context) {
      count += request.value === undefined ? 1 : 0
      if (request.value !== undefined || count > 1) return storage.commit(request, context)
      await storage.commit({ ...request, writeId: 'of-another-client' }, context)
      throw new Error('the connection has broken')
    },
  }))
  await call('POST', collection, configMap())
  expect((await call('DELETE', `${collection}/a`)).code).toBe(504)
  expect((await call('GET', `${collection}/a`)).code).toBe(404)
})

/** Writes each commit and loses its first answer. */
function losingFirstAnswers(error: Error): Spoil {
  const sent = new Set<string>()
  return (storage) => ({
    async commit(request, context) {
      const outcome = await storage.commit(request, context)
      if (sent.has(request.writeId)) return outcome
      sent.add(request.writeId)
      throw error
    },
  })
}

/** The cache has no state; only the latest read has it. */
const forgetful: Spoil = (storage) => ({
  get: async (request, context) => {
    const answer = await storage.get(request, context)
    return request.read.kind === 'any' ? { revision: answer.revision, epoch: answer.epoch } : answer
  },
})

test('VERB-06: no refusal is based on an outdated cache', async () => {
  const { call } = await aGateway(forgetful)
  await call('POST', collection, configMap())
  expect((await call('PUT', `${collection}/a`, configMap({ x: '1' }))).code).toBe(200)
  expect((await call('PATCH', `${collection}/a`, { data: { y: '2' } }, merge)).body.data).toEqual({ x: '1', y: '2' })
  expect((await call('DELETE', `${collection}/a`)).code).toBe(200)
  expect((await call('DELETE', `${collection}/a`)).code).toBe(404)
})

/** Another client writes first, this number of times. */
const racing =
  (count: number): Spoil =>
  (storage) => {
    let raced = 0
    return {
      async commit(request, context) {
        if (request.expected > 0 && raced++ < count) {
          const { entry } = await storage.get({ key: request.key, read: { kind: 'latest' } })
          return { kind: 'stale', current: entry }
        }
        return storage.commit(request, context)
      },
    }
  }

test('VERB-09: a patch that lost a race is retried', async () => {
  const { call } = await aGateway(racing(3))
  await call('POST', collection, configMap())
  expect((await call('PATCH', `${collection}/a`, { data: { y: '2' } }, merge)).code).toBe(200)
})

test('VERB-09: after a hundred lost races a patch is a conflict, and the hundredth attempt may win', async () => {
  const lost = await aGateway(racing(100))
  await lost.call('POST', collection, configMap())
  expect(await lost.call('PATCH', `${collection}/a`, { data: { y: '2' } }, merge)).toMatchObject({
    code: 409,
    body: { reason: 'Conflict' },
  })
  const won = await aGateway(racing(99))
  await won.call('POST', collection, configMap())
  expect(await won.call('PATCH', `${collection}/a`, { data: { y: '2' } }, merge)).toMatchObject({ code: 200, body: { data: { y: '2' } } })
})

test('META-09: five generated names are tried before the client has to retry', async () => {
  const names: string[] = []
  const taken = (count: number) =>
    aGateway((storage) => ({
      commit: async (request, context) => {
        names.push(request.key)
        return names.length <= count ? { kind: 'stale' } : storage.commit(request, context)
      },
    }))
  const generated = { ...configMap(), metadata: { generateName: 'a-' } }
  expect((await (await taken(4)).call('POST', collection, generated)).code).toBe(201)
  expect(new Set(names.splice(0)).size).toBe(5)
  expect(await (await taken(5)).call('POST', collection, generated)).toMatchObject({ code: 409, body: { reason: 'AlreadyExists' } })
  expect(names).toHaveLength(5)
})

/** Advances the clock until the awaited result has arrived. */
async function advanceUntil(clock: FakeClock, awaited: Promise<unknown>): Promise<void> {
  let isOver = false
  void awaited.finally(() => {
    isOver = true
  })
  while (!isOver) {
    clock.advance(50)
    await settle()
  }
}

/** Waits several turns of the event loop, as long as reads and writes in memory may take. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('KIND-GEN: a Service that is not stored releases its address, and a stored one keeps it', async () => {
  let isAway = (_request: CommitRequest) => false
  const { call, storage } = await aGateway((storage) => ({
    commit: async (request, context) => {
      if (isAway(request)) throw serviceUnavailable('the store is away')
      return storage.commit(request, context)
    },
  }))
  const services = '/api/v1/namespaces/default/services'
  const service = (spec = {}) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: 80 }], ...spec } })
  const at = { clusterIP: '10.0.0.9' }
  isAway = ({ key }) => key.startsWith('core/services/')
  expect((await call('POST', services, service(at))).code).toBe(503)
  isAway = () => false
  expect((await call('POST', services, service({ ...at, type: 'NodePort' }))).code).toBe(201)
  const held = async () => {
    const listed = storage.list({
      scope: { resource: 'allocation/ports' },
      selection: { labels: [], fields: [] },
      read: { kind: 'latest' },
      limit: 0,
      start: '',
      layout: 'entries',
    })
    const keys: string[] = []
    for await (const part of listed) if (part.kind === 'entries') keys.push(...part.entries.map(({ key }) => key))
    return keys
  }
  expect(await held()).toHaveLength(1)
  // The gateway cannot return the amount now, and answers with the result of the write.
  isAway = ({ key, value }) => key.startsWith('allocation/') && value === undefined
  expect((await call('PUT', `${services}/a`, service({ ...at, type: 'ClusterIP' }))).code).toBe(200)
  expect(await held()).toHaveLength(1)
  isAway = ({ key, value }) => key.startsWith('core/services/') || (key.startsWith('allocation/') && value === undefined)
  expect((await call('PUT', `${services}/a`, service({ ...at, type: 'NodePort' }))).code).toBe(503)
  isAway = ({ key, value }) => key.startsWith('allocation/') && value === undefined
  expect((await call('DELETE', `${services}/a`)).code).toBe(200)
})

test.each([
  [
    'is not given back when its Service leaves it',
    ({ key, value }: CommitRequest) => key.startsWith('allocation/') && value === undefined,
    { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] },
    { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] },
    200,
  ],
  [
    'was taken for an update of which nobody knows',
    ({ key }: CommitRequest) => key.startsWith('core/services/'),
    { type: 'ClusterIP', ports: [{ port: 80 }] },
    { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] },
    504,
  ],
])('KIND-GEN: a port that %s is free again after two minutes', async (_what, isLost, first, second, code) => {
  const clock = createFakeClock()
  let isAway = (_request: CommitRequest) => false
  const { call } = await aGateway(
    (storage) => ({
      commit: async (request, context) => {
        if (isAway(request)) throw new Error('the connection has broken')
        return storage.commit(request, context)
      },
    }),
    { clock },
  )
  const services = '/api/v1/namespaces/default/services'
  const aService = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec })
  expect((await call('POST', services, aService('a', first))).code).toBe(201)
  isAway = isLost
  const answered = call('PATCH', `${services}/a`, { spec: second }, merge)
  await advanceUntil(clock, answered)
  expect((await answered).code).toBe(code)
  isAway = () => false
  const other = aService('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] })
  expect((await call('POST', services, other)).code).toBe(422)
  for (let step = 0; step < 5; step++) {
    clock.advance(30_000)
    await settle()
  }
  expect((await call('POST', services, other)).code).toBe(201)
})

test('KIND-GEN: an address is released if admission does not answer for its Service', async () => {
  const admission = anAdmission([{ phase: '*', operations: ['*'], groups: [''], resources: ['services'], namespaces: [] }])
  let isLost = true
  admission.admit = async ({ phase }) => {
    if (phase === 'validate' && isLost) throw new UnknownOutcomeError(serviceUnavailable('a service cannot be reached').status)
    return { kind: 'allowed', ...saidNothing }
  }
  const { call } = await aGateway(undefined, { admission })
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] } }
  expect((await call('POST', '/api/v1/namespaces/default/services', service)).code).toBe(503)
  isLost = false
  expect((await call('POST', '/api/v1/namespaces/default/services', service)).code).toBe(201)
})

test('KIND-GEN: an address without a Service is free again after two minutes', async () => {
  const clock = createFakeClock()
  const { call, storage } = await aGateway(undefined, { clock })
  const key = 'allocation/addresses/10.0.0.9'
  const encoded = encodeObject({ kind: 'Reservation', metadata: { name: '10.0.0.9', uid: 'nobody' } })
  const value = encodeStored({ fingerprint: 1, writeId: 'w', expiresAtMs: 0, encoded, labels: {}, fields: {} })
  await storage.commit({ key, expected: 0, conditions: [], value, writeId: 'w' })
  const isTaken = async () => (await storage.get({ key, read: { kind: 'latest' } })).entry !== undefined
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { clusterIP: '10.0.0.9', ports: [{ port: 80 }] } }
  const services = '/api/v1/namespaces/default/services'
  expect((await call('POST', services, service)).code).toBe(422)
  // The first sweep, after 30 seconds, notices it.
  for (let step = 0; step < 5; step++) {
    expect(await isTaken()).toBe(true)
    clock.advance(30_000)
    await settle()
  }
  expect((await call('POST', services, service)).code).toBe(201)
  for (let step = 0; step < 6; step++) {
    clock.advance(30_000)
    await settle()
  }
  expect(await isTaken()).toBe(true)
})

test('META-12: a write without a change writes nothing', async () => {
  let commits = 0
  const { call } = await aGateway((storage) => ({
    commit(request, context) {
      commits += 1
      return storage.commit(request, context)
    },
  }))
  const created = await call('POST', collection, configMap({ x: '1' }))
  const updated = await call('PUT', `${collection}/a`, configMap({ x: '1' }))
  const patched = await call('PATCH', `${collection}/a`, { data: { x: '1' } }, merge)
  expect([updated.body.metadata.resourceVersion, patched.body.metadata.resourceVersion]).toEqual([
    created.body.metadata.resourceVersion,
    created.body.metadata.resourceVersion,
  ])
  expect(commits).toBe(1)
})

/** A cache that stops at the call of `stop`; the latest reads still report the latest state. */
function standingStill() {
  let isStill = false
  const kept = new Map<string, ReturnType<StorageService['get']>>()
  const over: Spoil = (storage) => ({
    get(request, context) {
      if (request.read.kind !== 'any') return storage.get(request, context)
      const answer = (isStill ? kept.get(request.key) : undefined) ?? storage.get(request, context)
      kept.set(request.key, answer)
      return answer
    },
  })
  return {
    over,
    stop: () => {
      isStill = true
    },
  }
}

test.each([
  ['a PUT', 'PUT', configMap({ x: '1' }), 'application/json'],
  ['a patch', 'PATCH', { data: { x: '1' } }, merge],
])('META-12: %s without a change by the cache is written if the object has changed since', async (_what, method, body, type) => {
  const { over, stop } = standingStill()
  const { call } = await aGateway(over)
  await call('POST', collection, configMap({ x: '1' }))
  // From here on the cache keeps the first state.
  await call('GET', `${collection}/a`)
  await call('PATCH', `${collection}/a`, {}, merge)
  stop()
  const other = await call('PATCH', `${collection}/a`, { data: { x: '2' } }, merge)
  expect((await call(method, `${collection}/a`, body, type)).body.data).toEqual({ x: '1' })
  const { body: found } = await call('GET', `${collection}/a?resourceVersion=`)
  expect(found.data).toEqual({ x: '1' })
  expect(Number(found.metadata.resourceVersion)).toBeGreaterThan(Number(other.body.metadata.resourceVersion))
})

test('META-12: an apply of an equal value in another spelling by the cache is written if the object has changed since', async () => {
  const clock = createFakeClock()
  const { over, stop } = standingStill()
  const { call } = await aGateway(over, { clock })
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  const apply = async (cpu: string) => {
    clock.advance(2_000)
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'a' }, spec: { hard: { cpu } } }
    const { code, body } = await call('PATCH', `${quotas}/a?fieldManager=m`, quota, 'application/apply-patch+yaml')
    return { code, version: Number(body.metadata.resourceVersion), spec: (body as unknown as { spec: unknown }).spec }
  }
  const hard = (cpu: string) => ({ hard: { cpu } })
  const first = await apply('1')
  expect(await apply('1000m')).toEqual({ code: 200, version: first.version, spec: hard('1') })
  stop()
  const other = await apply('2')
  const last = await apply('1000m')
  expect({ code: last.code, spec: last.spec, isWritten: last.version > other.version }).toEqual({
    code: 200,
    spec: hard('1'),
    isWritten: true,
  })
})

test('META-12: an apply of an equal value in another spelling that takes its field from another manager is written', async () => {
  const clock = createFakeClock()
  const { call } = await aGateway(() => ({}), { clock })
  const path = '/api/v1/namespaces/default/resourcequotas/q'
  const apply = async (manager: string, hard: Record<string, string>) => {
    clock.advance(2_000)
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }
    const { body } = await call('PATCH', `${path}?fieldManager=${manager}&force=true`, quota, 'application/apply-patch+yaml')
    const { managedFields = [] } = body.metadata as ObjectMeta
    return managedFields.map(({ manager: name, fieldsV1 }) => [name, JSON.stringify(fieldsV1).match(/count\/\w/g)])
  }
  await apply('m1', { 'count/a': '1' })
  await apply('m2', { 'count/b': '1', 'count/c': '1' })
  const owners = await apply('m0', { 'count/a': '1' })
  expect(owners).toEqual([
    ['m0', ['count/a']],
    ['m1', ['count/a']],
    ['m2', ['count/b', 'count/c']],
  ])
  // The object keeps its length, and the last changed byte belongs to a time.
  expect(await apply('m1', { 'count/b': '1', 'count/c': '1000m' })).toEqual([
    ['m0', ['count/a']],
    ['m2', ['count/b']],
    ['m1', ['count/b', 'count/c']],
  ])
})

test('DEL-11, DEL-06: an update that removes the last finalizer of a Pod in its grace period deletes nothing, and the next update does after it', async () => {
  const { call } = await aGateway()
  const pods = '/api/v1/namespaces/default/pods'
  const removedBy = async (name: string, gracePeriodSeconds: number, method: string) => {
    const metadata = { name, finalizers: ['a.example.com/a'] }
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] }
    expect((await call('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })).code).toBe(201)
    const { body } = await call('DELETE', `${pods}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds })
    const emptied = { ...body, metadata: { ...body.metadata, finalizers: [] } }
    const [sent, type] = method === 'PUT' ? [emptied, 'application/json'] : [{ metadata: { finalizers: null } }, merge]
    expect((await call(method, `${pods}/${name}`, sent, type)).code).toBe(200)
    const found = await call('GET', `${pods}/${name}`)
    return found.code === 404 ? 'removed' : (found.body.metadata as ObjectMeta).finalizers
  }
  expect([await removedBy('a', 30, 'PUT'), await removedBy('b', 30, 'PATCH')]).toEqual([undefined, undefined])
  expect([await removedBy('c', 0, 'PUT'), await removedBy('d', 0, 'PATCH')]).toEqual(['removed', 'removed'])
})

test('PROTO-09: a patch, an update and a deletion keep a neighbouring integer beyond 2^53', async () => {
  const { send } = await aGateway()
  const textOf = async (method: string, path: string, body?: string, type = 'application/json') => {
    const response = await send({ method, path, headers: { 'content-type': type }, ...(body === undefined ? {} : { body }) })
    let text = ''
    for await (const chunk of response.body) text += Buffer.from(chunk).toString()
    return text
  }
  const big = '"sizeBytes":9007199254740993'
  const labelled = (label: string) => JSON.stringify({ metadata: { labels: { label } } })
  const head = '"kind":"Node","apiVersion":"v1"'
  await textOf('POST', '/api/v1/nodes', `{${head},"metadata":{"name":"a","finalizers":["a.example.com/a"]}}`)
  const steps: [method: string, path: string, body?: string, type?: string][] = [
    ['PATCH', '/api/v1/nodes/a/status', `{"status":{"images":[{"names":["i"],${big}}]}}`, merge],
    ['PATCH', '/api/v1/nodes/a', labelled('merge'), merge],
    ['PATCH', '/api/v1/nodes/a', labelled('strategic'), 'application/strategic-merge-patch+json'],
    ['PATCH', '/api/v1/nodes/a', '[{"op":"add","path":"/metadata/labels/label","value":"json"}]', 'application/json-patch+json'],
    [
      'PATCH',
      '/api/v1/nodes/a?fieldManager=m',
      `{${head},"metadata":{"name":"a","labels":{"other":"apply"}}}`,
      'application/apply-patch+yaml',
    ],
    // The status and its number stay unchanged, and this body does not contain them.
    ['PUT', '/api/v1/nodes/a', `{${head},"metadata":{"name":"a","finalizers":["a.example.com/a"],"labels":{"label":"put"}}}`],
    ['DELETE', '/api/v1/nodes/a'],
  ]
  for (const [method, path, ...rest] of steps) {
    expect(await textOf(method, path, ...rest), `${method} ${rest[1] ?? ''}`).toContain(big)
    expect(await textOf('GET', '/api/v1/nodes/a')).toContain(big)
  }
})

test.each([
  ['an address', { clusterIP: '10.0.0.9' }],
  ['a port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] }],
])('KIND-GEN: %s of a create whose name was taken meanwhile is released', async (_what, wanted) => {
  const { call } = await aGateway()
  const services = '/api/v1/namespaces/default/services'
  const aService = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  })
  expect((await call('POST', services, aService('a', {}))).code).toBe(201)
  expect(await call('POST', services, aService('a', wanted))).toMatchObject({ code: 409, body: { reason: 'AlreadyExists' } })
  expect((await call('POST', services, aService('b', wanted))).code).toBe(201)
})

test('KIND-GEN: a port of an update that lost its race is released', async () => {
  let isRacing = false
  const { call } = await aGateway((storage) => ({
    async commit(request, context) {
      if (!isRacing || !request.key.startsWith('core/services/')) return storage.commit(request, context)
      const { entry } = await storage.get({ key: request.key, read: { kind: 'latest' } })
      return { kind: 'stale', current: entry }
    },
  }))
  const services = '/api/v1/namespaces/default/services'
  const aService = (name: string, spec: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  })
  const wanted = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] }
  expect((await call('POST', services, aService('a', {}))).code).toBe(201)
  isRacing = true
  expect((await call('PATCH', `${services}/a`, { spec: wanted }, merge)).code).toBe(409)
  isRacing = false
  expect((await call('POST', services, aService('b', wanted))).code).toBe(201)
})

test('STORE-03: admission is called only for matches of its rules, and for every write once the rules are outdated', async () => {
  const clock = createFakeClock()
  const admission = anAdmission([{ phase: 'validate', operations: ['CREATE'], groups: [''], resources: ['secrets'], namespaces: [] }])
  const { call } = await aGateway(undefined, { admission, clock })
  await call('POST', collection, configMap())
  expect(admission.asked).toEqual([])
  await call('POST', '/api/v1/namespaces/default/secrets', { ...configMap(), kind: 'Secret', data: {} })
  expect(admission.asked).toEqual(['validate CREATE secrets'])
  admission.admissionRules = () => ({ async *[Symbol.asyncIterator]() {}, close() {} })
  clock.advance(6_000)
  await call('PUT', `${collection}/a`, configMap({ x: '2' }))
  expect(admission.asked.slice(1)).toEqual(['mutate UPDATE configmaps', 'validate UPDATE configmaps'])
})

test('STORE-03: a write is refused while admission cannot be reached', async () => {
  const admission = anAdmission([{ phase: '*', operations: ['*'], groups: ['*'], resources: ['*'], namespaces: [] }])
  admission.admit = () => Promise.reject(new Error('unreachable'))
  const { call } = await aGateway(undefined, { admission })
  expect(await call('POST', collection, configMap())).toMatchObject({ code: 503, body: { reason: 'ServiceUnavailable' } })
})

test('a plugin that requests an authorization check gets the answer of the authorizers, and continues at its position', async () => {
  const access = { verb: 'approve', group: 'g', version: 'v1', resource: 'signers', subresource: '', namespace: '', name: 'n' }
  const admission = anAdmission(allConfigMaps)
  const questions: unknown[] = []
  admission.admit = async ({ phase, resumeAt, decisions }) => {
    questions.push([phase, resumeAt, decisions])
    if (phase === 'validate' && decisions.length === 0)
      return { kind: 'asks', accesses: [access], namespaces: [], resumeAt: 'Asker', ...saidNothing }
    return { kind: 'allowed', ...saidNothing }
  }
  const { call } = await aGateway(undefined, { admission })
  expect(await call('POST', collection, configMap())).toMatchObject({ code: 201 })
  expect(questions).toEqual([
    ['mutate', '', []],
    ['validate', '', []],
    ['validate', 'Asker', [{ access, isAllowed: true, reason: expect.any(String) }]],
  ])
})

test('a plugin that requests checks without end fails with an error', async () => {
  const admission = anAdmission(allConfigMaps)
  admission.admit = async () => ({ kind: 'asks', accesses: [], namespaces: [], resumeAt: 'Asker', ...saidNothing })
  const { call } = await aGateway(undefined, { admission })
  expect(await call('POST', collection, configMap())).toMatchObject({
    code: 500,
    body: { message: expect.stringContaining('the admission plugin Asker asks again and again') },
  })
})

test('admission receives the outcome of each write with a reservation', async () => {
  const admission = anAdmission(allConfigMaps)
  const outcomes: unknown[] = []
  admission.admit = async ({ phase, attributes }) => {
    const reservations = phase === 'validate' ? [attributes.operation] : []
    return { kind: 'allowed', ...saidNothing, reservations }
  }
  admission.outcome = async ({ reservations, isCommitted, revision }) => {
    outcomes.push([...reservations, isCommitted, revision > 0])
    return {}
  }
  const { call } = await aGateway(undefined, { admission })
  await call('POST', collection, configMap())
  await call('POST', collection, configMap())
  await call('PUT', `${collection}/a`, configMap({ x: '1' }))
  await call('PUT', `${collection}/a`, configMap({ x: '1' }))
  await call('PUT', `${collection}/a?dryRun=All`, configMap({ x: '2' }))
  await call('DELETE', `${collection}/a`)
  expect(outcomes).toEqual([
    ['CREATE', true, true],
    ['CREATE', false, false],
    ['UPDATE', true, true],
    ['UPDATE', false, false],
    ['UPDATE', false, false],
    ['DELETE', true, true],
  ])
})

test.each([
  ['refuses', serviceUnavailable('the store is away'), 503, [['quota', false]]],
  ['says nothing of', new Error('the connection has broken'), 504, []],
])('the reservation of a write that storage %s is released only if the write certainly failed', async (_how, failure, code, told) => {
  const admission = anAdmission(allConfigMaps)
  const outcomes: unknown[] = []
  admission.admit = async ({ phase }) => ({ kind: 'allowed', ...saidNothing, reservations: phase === 'validate' ? ['quota'] : [] })
  admission.outcome = async ({ reservations, isCommitted }) => {
    outcomes.push([...reservations, isCommitted])
    return {}
  }
  const { call } = await aGateway(() => ({ commit: () => Promise.reject(failure) }), { admission })
  expect((await call('POST', collection, configMap())).code).toBe(code)
  expect(outcomes).toEqual(told)
})

test('a reservation for an object that cannot be printed is released', async () => {
  const admission = anAdmission([{ phase: '*', operations: ['*'], groups: ['*'], resources: ['*'], namespaces: [] }])
  const outcomes: unknown[] = []
  admission.admit = async ({ phase, attributes }) => {
    if (phase !== 'validate') return { kind: 'allowed', ...saidNothing }
    // After the validation the object contains itself, which no text can express.
    const object = attributes.object as { metadata: object }
    Object.assign(object.metadata, { annotations: object })
    return { kind: 'allowed', ...saidNothing, reservations: ['quota'] }
  }
  admission.outcome = async ({ reservations, isCommitted }) => {
    outcomes.push([...reservations, isCommitted])
    return {}
  }
  const { call } = await aGateway(undefined, { admission })
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'b' }] } }
  expect((await call('POST', '/api/v1/namespaces/default/pods', pod)).code).toBe(500)
  expect(outcomes).toEqual([['quota', false]])
})

test('a write to a source of admission rules is answered once the rules include it', async () => {
  const admission = anAdmission([])
  const told = new PushStream<AdmissionRulesPart>()
  admission.admissionRules = () => told
  const tell = (revision: number) =>
    told.push({ kind: 'admissionRules', admissionRules: [], revision, sources: [{ resource: 'core/configmaps', revision }] })
  tell(0)
  const { call, storage } = await aGateway(undefined, { admission, clock: createFakeClock() })
  let isAnswered = false
  const answer = call('POST', collection, configMap()).finally(() => {
    isAnswered = true
  })
  const key = { key: 'core/configmaps/default/a', read: { kind: 'latest' } } as const
  while ((await storage.get(key)).entry === undefined) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isAnswered).toBe(false)
  tell(1_000)
  expect(await answer).toMatchObject({ code: 201 })
})

test('LIM-12: other requests are answered between the steps of a large write', async () => {
  const { call } = await aGateway()
  await call('POST', collection, configMap())
  const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v']))
  const answeredDuring = async (large: Promise<{ code: number }>): Promise<number> => {
    let isDone = false
    void large.then(() => {
      isDone = true
    })
    let count = 0
    for (; !isDone; count++) {
      expect((await call('GET', `${collection}/a`)).code).toBe(200)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return count
  }
  const named = (name: string) => ({ ...configMap(data), metadata: { name } })
  expect(await answeredDuring(call('POST', collection, named('b')))).toBeGreaterThan(8)
  expect(await answeredDuring(call('PUT', `${collection}/b`, { ...named('b'), data: { ...data, k1: 'w' } }))).toBeGreaterThan(8)
  expect(await answeredDuring(call('PATCH', `${collection}/b`, { data: { k2: 'w' } }, merge))).toBeGreaterThan(8)
  const applied = { ...named('c'), apiVersion: 'v1', kind: 'ConfigMap' }
  const apply = 'application/apply-patch+yaml'
  expect(await answeredDuring(call('PATCH', `${collection}/c?fieldManager=m`, applied, apply))).toBeGreaterThan(8)
  // The gateway compresses a small answer within one turn.
  expect(await answeredDuring(call('PATCH', `${collection}/a`, { data: { x: 'y' } }, merge))).toBeLessThan(3)
})

test('LIM-12: other requests are answered between the deletions of a collection', async () => {
  const { call } = await aGateway()
  for (let index = 0; index < 200; index++) await call('POST', collection, { ...configMap(), metadata: { name: `c${index}` } })
  let isDone = false
  const deleting = call('DELETE', collection).then(() => {
    isDone = true
  })
  let count = 0
  for (; !isDone; count++) {
    expect((await call('GET', '/version')).code).toBe(200)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await deleting
  expect(count).toBeGreaterThan(5)
})

test.each([
  ['all of what admission has changed is taken', { labels: { added: 'yes' } }, ['mutate', 'mutate']],
  ['admission has changed what is the server’s to say', { labels: { added: 'yes' }, uid: 'another' }, ['mutate', 'mutate', 'validate']],
])(
  'ADM-FLOW-02: validating admission is called for an update only if its early verdict is outdated: %s',
  async (_what, metadata, asked) => {
    const admission = anAdmission(allConfigMaps)
    const phases: string[] = []
    admission.admit = async ({ phase, attributes }) => {
      phases.push(phase)
      const { object } = attributes
      if (phase !== 'mutate' || !isJsonObject(object)) return { kind: 'allowed', ...saidNothing }
      const changed = { ...object, metadata: { ...(isJsonObject(object['metadata']) ? object['metadata'] : {}), ...metadata } }
      return { kind: 'allowed', object: changed, validated: saidNothing, ...saidNothing }
    }
    const { call } = await aGateway(undefined, { admission })
    await call('POST', collection, configMap({ x: '1' }))
    expect(await call('PUT', `${collection}/a`, configMap({ x: '2' }))).toMatchObject({
      code: 200,
      body: { metadata: { labels: { added: 'yes' } } },
    })
    expect(phases).toEqual(asked)
  },
)
