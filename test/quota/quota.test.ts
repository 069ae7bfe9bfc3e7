import { type ApiObject, StatusError } from '@orch/core/meta'
import { createLog } from '@orch/platform'
import { type StartOptions, start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'

const address = (plural: string, namespaced = true) => ({ group: '', version: 'v1', plural, namespaced })

/** Controllers take milliseconds, on a busy machine seconds. */
const within = { timeout: 90_000 }

async function aNamespace(options: StartOptions = {}) {
  const server = await start(options)
  onTestFinished(() => server.stop())
  const { client } = server
  await client.resource(address('namespaces', false)).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
  const create = (plural: string, object: object) => client.resource(address(plural)).create(object as ApiObject, { namespace: 'team' })
  const pods = client.resource(address('pods'))
  const usedOf = async (name: string) => {
    const { status } = (await client.resource(address('resourcequotas')).get(name, { namespace: 'team' })) as { status?: { used?: object } }
    return status?.used
  }
  return { server, client, create, pods, usedOf }
}

const aQuota = (name: string, hard: Record<string, string>, spec: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name } },
  spec: { ...spec, hard },
})

const aPod = (name: string, resources: object = {}, spec: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
  spec: { ...spec, containers: [{ name: 'c', image: 'i', resources }] },
})

async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof StatusError)) throw error ?? new Error('it was not refused')
  return `${error.code} ${error.status.message}`
}

test('ADM-BI-03, KIND-RQ-13: exactly 50 of 200 pods created at once succeed under a quota of 50', async () => {
  const { create, pods, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { pods: '50' }))
  const results = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => create('pods', aPod(`p${index}`))))
  const failed = results.filter((result) => result.status === 'rejected')
  expect(failed).toHaveLength(150)
  for (const { reason } of failed) {
    expect((reason as StatusError).status).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect((reason as StatusError).message).toMatch(/is forbidden: exceeded quota: q, requested: pods=1, used: pods=50, limited: pods=50$/)
  }
  expect((await pods.list({ namespace: 'team' })).items).toHaveLength(50)
  expect(await usedOf('q')).toEqual({ pods: '50' })
})

test('KIND-RQ-13: the controller owns the used amount after creations and a deletion', async () => {
  const { client, create, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { secrets: '50' }))
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ secrets: '0' }), within)
  const owners = async () => {
    const { metadata } = await client.resource(address('resourcequotas')).get('q', { namespace: 'team' })
    const entries = metadata.managedFields as readonly { manager: string; fieldsV1: { 'f:status'?: { 'f:used'?: object } } }[]
    return entries.filter(({ fieldsV1 }) => 'f:secrets' in (fieldsV1['f:status']?.['f:used'] ?? {})).map(({ manager }) => manager)
  }
  for (const name of ['a', 'b', 'c']) await create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name } })
  const whenCreated = await owners()
  await client.resource(address('secrets')).delete('a', { namespace: 'team' })
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ secrets: '2' }), within)
  expect([whenCreated, await owners()]).toEqual([[expect.stringMatching(/apiserver$/)], [expect.stringMatching(/controller-manager$/)]])
})

test('KIND-RQ-13: quotas of resources that cannot be listed do not stop the counting of others', async () => {
  const { create, pods, usedOf } = await aNamespace()
  for (const name of ['a', 'b', 'c']) await create('resourcequotas', aQuota(name, { 'count/bindings': '5' }))
  await create('resourcequotas', aQuota('q', { pods: '2' }))
  await create('pods', aPod('p'))
  await pods.delete('p', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  await expect.poll(() => usedOf('q')).toEqual({ pods: '0' })
})

test('KIND-RQ-12: a deleted quota and its successor of the same name refuse no write within their limits', async () => {
  const told: string[] = []
  const { client, create, pods } = await aNamespace({ log: createLog({ level: 'warn', format: 'json', write: (line) => told.push(line) }) })
  const quotas = client.resource(address('resourcequotas'))
  const made: Promise<unknown>[] = []
  for (let round = 0; round < 10; round += 1) {
    await create('resourcequotas', aQuota('q', { pods: '1000' }))
    for (let index = 0; index < 20; index += 1) made.push(create('pods', aPod(`p${round}-${index}`)))
    await quotas.delete('q', { namespace: 'team' })
  }
  expect((await Promise.allSettled(made)).flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))).toEqual([])
  expect((await pods.list({ namespace: 'team' })).items).toHaveLength(200)
  expect(told).toEqual([])
})

test('KIND-RQ-02: only objects of the namespace count', async () => {
  const { client, create } = await aNamespace()
  await client.resource(address('namespaces', false)).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await create('resourcequotas', aQuota('q', { 'requests.cpu': '1' }))
  const elsewhere = (name: string, cpu: string) =>
    client.resource(address('pods')).create(aPod(name, { requests: { cpu } }) as ApiObject, { namespace: 'other' })
  await elsewhere('big', '9')
  await create('pods', aPod('a', { requests: { cpu: '400m' } }))
  await create('pods', aPod('b', { requests: { cpu: '600m' } }))
  expect(await refusal(create('pods', aPod('c', { requests: { cpu: '1m' } })))).toBe(
    '403 pods "c" is forbidden: exceeded quota: q, requested: requests.cpu=1m, used: requests.cpu=1, limited: requests.cpu=1',
  )
  expect((await elsewhere('c', '1m')).metadata.name).toBe('c')
})

test('ADM-BI-03: created objects count at once, and deleted objects soon', async () => {
  const { create, pods, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { pods: '2', 'requests.cpu': '1' }))
  await create('pods', aPod('a', { requests: { cpu: '600m' } }))
  expect(await usedOf('q')).toEqual({ pods: '1', 'requests.cpu': '600m' })
  expect(await refusal(create('pods', aPod('b', { requests: { cpu: '500m' } })))).toBe(
    '403 pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1',
  )
  expect(await refusal(create('pods', aPod('c')))).toBe('403 pods "c" is forbidden: failed quota: q: must specify requests.cpu for: c')
  await pods.delete('a', { namespace: 'team' }, { gracePeriodSeconds: 0 })
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ pods: '0', 'requests.cpu': '0' }), within)
})

test('ADM-BI-03: a reservation is made in all quotas of an object or in none', async () => {
  const { create, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('a', { pods: '5' }))
  await create('resourcequotas', aQuota('b', { pods: '1', 'count/pods': '5' }))
  await create('pods', aPod('one'))
  expect(await refusal(create('pods', aPod('two')))).toBe(
    '403 pods "two" is forbidden: exceeded quota: b, requested: pods=1, used: pods=1, limited: pods=1',
  )
  expect([await usedOf('a'), await usedOf('b')]).toEqual([{ pods: '1' }, { pods: '1', 'count/pods': '1' }])
})

test('KIND-RQ-04, KIND-RQ-06: a quota with scopes counts pods of these scopes', async () => {
  const { create, usedOf } = await aNamespace()
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-cluster-critical'] }] }
  await create('resourcequotas', aQuota('idle', { pods: '1' }, { scopes: ['BestEffort'] }))
  await create('resourcequotas', aQuota('high', { pods: '1' }, { scopeSelector }))
  await create('pods', aPod('a'))
  await create('pods', aPod('b', { requests: { cpu: '1' } }))
  await create('pods', aPod('c', { requests: { cpu: '1' } }, { priorityClassName: 'system-cluster-critical' }))
  expect([await usedOf('idle'), await usedOf('high')]).toEqual([{ pods: '1' }, { pods: '1' }])
  expect(await refusal(create('pods', aPod('d')))).toContain('exceeded quota: idle')
})

test('ADM-BI-03: a Service that grows needs capacity of its quota, and a Service that shrinks releases it', async () => {
  const { client, create, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { 'services.nodeports': '1', services: '3' }))
  const aService = (name: string, type: string) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { type, ports: [{ port: 80 }] },
  })
  await create('services', aService('a', 'NodePort'))
  await create('services', aService('b', 'ClusterIP'))
  const services = client.resource(address('services'))
  const update = (name: string, type: string) => services.patch(name, { spec: { type } }, { type: 'merge', namespace: 'team' })
  expect(await refusal(update('b', 'NodePort'))).toContain('exceeded quota: q, requested: services.nodeports=1')
  await update('a', 'ClusterIP')
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ 'services.nodeports': '0', services: '2' }), within)
  await update('b', 'NodePort')
  expect(await usedOf('q')).toEqual({ 'services.nodeports': '1', services: '2' })
})

test('ADM-BI-03: objects of any resource, and storage by class, are counted', async () => {
  const { create, usedOf } = await aNamespace()
  const gold = 'gold.storageclass.storage.orch.io/requests.storage'
  await create('resourcequotas', aQuota('q', { 'count/configmaps': '1', [gold]: '5Gi', persistentvolumeclaims: '9' }))
  const aMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  const aClaim = (name: string, storage: string, storageClassName: string) => ({
    ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
  })
  await create('configmaps', aMap('a'))
  expect(await refusal(create('configmaps', aMap('b')))).toContain(
    'requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1',
  )
  await create('persistentvolumeclaims', aClaim('a', '3Gi', 'gold'))
  await create('persistentvolumeclaims', aClaim('b', '30Gi', 'silver'))
  expect(await refusal(create('persistentvolumeclaims', aClaim('c', '3Gi', 'gold')))).toContain(
    `requested: ${gold}=3Gi, used: ${gold}=3Gi, limited: ${gold}=5Gi`,
  )
  expect(await usedOf('q')).toEqual({ 'count/configmaps': '1', [gold]: '3Gi', persistentvolumeclaims: '2' })
})

test('DRY-11: a dry run is checked, and reserves nothing', async () => {
  const { client, create, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { pods: '1' }))
  const pods = client.resource(address('pods'))
  const dry = (name: string) => pods.create(aPod(name) as ApiObject, { namespace: 'team', dryRun: true })
  await dry('a')
  await dry('b')
  await create('pods', aPod('c'))
  expect(await refusal(dry('d'))).toContain('exceeded quota: q')
  expect(await usedOf('q')).toEqual({ pods: '1' })
})

test('ADM-BI-03: a refusal after a reservation releases it', async () => {
  const { create, usedOf } = await aNamespace()
  await create('resourcequotas', aQuota('q', { services: '5' }))
  const aService = (name: string, spec = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ...spec, ports: [{ port: 80 }] },
  })
  const at = { clusterIP: '10.0.0.9' }
  await create('services', aService('a', at))
  expect(await refusal(create('services', aService('b', at)))).toMatch(/^422 /)
  // Only storage has this value.
  expect(await refusal(create('services', aService('a')))).toMatch(/^409 /)
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ services: '1' }), within)
})

test('KIND-RQ-12, KIND-RQ-13: objects older than the quota count, and new limits take effect', async () => {
  const { client, create, usedOf } = await aNamespace()
  await create('pods', aPod('a'))
  await create('resourcequotas', aQuota('q', { pods: '1' }))
  expect(await refusal(create('pods', aPod('b')))).toContain('used: pods=1, limited: pods=1')
  const quotas = client.resource<ApiObject & { status?: object }>(address('resourcequotas'))
  await quotas.patch('q', { spec: { hard: { pods: '2', secrets: '7' } } }, { type: 'merge', namespace: 'team' })
  await vi.waitFor(
    async () =>
      expect((await quotas.get('q', { namespace: 'team' })).status).toEqual({
        hard: { pods: '2', secrets: '7' },
        used: { pods: '1', secrets: '0' },
      }),
    within,
  )
  await create('pods', aPod('b'))
  expect(await usedOf('q')).toEqual({ pods: '2', secrets: '0' })
})

test('ADM-BI-04: no quota is enforced with the plugin off, and the use is still shown', async () => {
  const { create, usedOf } = await aNamespace({ flags: ['--disable-admission-plugins=ResourceQuota'] })
  await create('resourcequotas', aQuota('q', { pods: '1' }))
  for (const name of ['a', 'b', 'c']) await create('pods', aPod(name))
  await vi.waitFor(async () => expect(await usedOf('q')).toEqual({ pods: '3' }), within)
})
