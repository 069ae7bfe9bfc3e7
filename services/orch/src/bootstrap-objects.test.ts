import type { ApiObject } from '@orch/core/meta'
import { expect, onTestFinished, test, vi } from 'vitest'
import { start } from './start/start.ts'

const rbac = { group: 'rbac.authorization.orch.io', version: 'v1' }
const flow = { group: 'flowcontrol.apiserver.orch.io', version: 'v1', namespaced: false }
const collections = [
  { group: '', version: 'v1', plural: 'namespaces', namespaced: false },
  { group: 'scheduling.orch.io', version: 'v1', plural: 'priorityclasses', namespaced: false },
  { ...flow, plural: 'flowschemas' },
  { ...flow, plural: 'prioritylevelconfigurations' },
  { ...rbac, plural: 'clusterroles', namespaced: false },
  { ...rbac, plural: 'clusterrolebindings', namespaced: false },
  { ...rbac, plural: 'roles', namespaced: true },
  { ...rbac, plural: 'rolebindings', namespaced: true },
]

/** The object without the parts that differ between any two objects. */
function comparable({ metadata, ...rest }: ApiObject) {
  const { name: _name, uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...others } = metadata
  const labels = { ...others.labels, 'orch.io/metadata.name': '' }
  return { ...rest, metadata: { ...others, labels, managedFields: others.managedFields?.map((entry) => ({ ...entry, time: '' })) } }
}

/** An aggregated role equals the result of a POST without its rules, followed by an apply of its rules. */
function withoutGathered(bootstrapObject: ApiObject): { body: ApiObject; rest: ApiObject } {
  if (bootstrapObject['aggregationRule'] === undefined) return { body: bootstrapObject, rest: bootstrapObject }
  const { rules, ...body } = bootstrapObject
  const { managedFields = [] } = bootstrapObject.metadata
  const applied = managedFields.filter(({ manager }) => manager === 'clusterrole-aggregation-controller')
  expect(applied).toMatchObject([{ operation: 'Apply', fieldsV1: { 'f:rules': {} } }])
  const others = managedFields.filter((entry) => !applied.includes(entry))
  return { body, rest: { ...body, rules: null, metadata: { ...bootstrapObject.metadata, managedFields: others } } }
}

/** A FlowSchema equals the result of a POST, followed by a write of its status. */
function withoutCondition(bootstrapObject: ApiObject): ApiObject {
  if (bootstrapObject.kind !== 'FlowSchema') return bootstrapObject
  const { metadata, status } = bootstrapObject
  const { managedFields = [] } = metadata
  const ofStatus = managedFields.filter(({ subresource }) => subresource === 'status')
  expect({ status, ofStatus }).toMatchObject({
    status: { conditions: [{ type: 'Dangling', status: 'False', reason: 'Found' }] },
    ofStatus: [{ operation: 'Apply', fieldsV1: { 'f:status': {} } }],
  })
  return {
    ...bootstrapObject,
    status: {},
    metadata: { ...metadata, managedFields: managedFields.filter((entry) => !ofStatus.includes(entry)) },
  }
}

test('META-01, META-03, SSA-17: bootstrap objects equal objects created by POST', async () => {
  const { client, stop } = await start({ controllers: [] })
  onTestFinished(stop)
  let compared = 0
  for (const address of collections) {
    const collection = client.resource(address)
    for (const bootstrapObject of (await collection.listAll()).items) {
      const { name, namespace, labels, annotations } = bootstrapObject.metadata
      // Some names are reserved for these objects, and a namespace is not deleted at once.
      const isNamespace = bootstrapObject.kind === 'Namespace'
      if (!isNamespace) await collection.delete(name ?? '', { namespace })
      const { body: posted, rest } = withoutGathered(withoutCondition(bootstrapObject))
      const metadata = { name: isNamespace ? `${name}-again` : name, namespace, labels, annotations }
      // The sender of a Namespace's finalizers owns them.
      const body = { ...posted, ...(isNamespace ? { spec: {} } : {}), metadata }
      const options = { dryRun: true, fieldManager: 'orch-apiserver', fieldValidation: 'Strict' } as const
      const made = await collection.create(body, { ...options, namespace })
      expect(comparable(made)).toEqual(comparable(rest))
      compared += 1
    }
  }
  expect(compared).toBeGreaterThan(100)
})

test.each([
  ['1.25', 'v1beta2', 'Update', undefined],
  ['1.27', 'v1beta3', 'Apply', undefined],
  ['1.28', 'v1beta3', 'Apply', { nominalConcurrencyShares: 0, lendablePercent: 0 }],
  ['1.30', 'v1', 'Apply', { nominalConcurrencyShares: 0, lendablePercent: 0 }],
])('SSA-17: at %s flow control is written in %s, and its conditions by %s', async (level, version, operation, exempt) => {
  const { client, stop, settled } = await start({ profile: 'kubernetes', version: level, controllers: ['flow-control'] })
  onTestFinished(stop)
  const flow = { group: 'flowcontrol.apiserver.k8s.io', version, namespaced: false }
  const schemas = client.resource({ ...flow, plural: 'flowschemas' })
  const apiVersion = `${flow.group}/${version}`
  await schemas.create({
    apiVersion,
    kind: 'FlowSchema',
    metadata: { name: 'mine' },
    spec: { priorityLevelConfiguration: { name: 'gone' } },
  })
  await settled()
  const writesOf = async (name: string) => {
    const { metadata, status } = await schemas.get(name)
    const entries = metadata.managedFields ?? []
    return [status, ...entries.filter(({ subresource }) => subresource === 'status').map((entry) => [entry.operation, entry.apiVersion])]
  }
  const conditions = (status: string) => ({ conditions: [expect.objectContaining({ type: 'Dangling', status })] })
  expect(await writesOf('probes')).toEqual([conditions('False'), [operation, apiVersion]])
  expect(await writesOf('mine')).toEqual([conditions('True'), [operation, apiVersion]])
  const levels = client.resource({ ...flow, plural: 'prioritylevelconfigurations' })
  expect((await levels.get('exempt'))['spec']).toEqual({ type: 'Exempt', ...(exempt !== undefined && { exempt }) })
})

test('SSA-17: writes of the server and its controllers have their own names as managers', async () => {
  const { client, stop } = await start({ controllers: ['*'] })
  onTestFinished(stop)
  const managerOf = ({ metadata }: ApiObject) => metadata.managedFields?.[0]?.manager
  const own = await client
    .resource({ group: '', version: 'v1', plural: 'services', namespaced: true })
    .get('orch', { namespace: 'default' })
  expect(managerOf(own)).toBe('orch-apiserver')
  const maps = client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
  const root = await vi.waitFor(() => maps.get('orch-root-ca.crt', { namespace: 'default' }), { timeout: 90_000 })
  expect(managerOf(root)).toBe('orch-controller-manager')
})

test.each([
  ['orch', 'orch.io', 'orch-apiserver', 'orch-apiserver', 'orch-controller-manager'],
  [
    'kubernetes',
    'k8s.io',
    'api-priority-and-fairness-config-producer-v1',
    'api-priority-and-fairness-config-consumer-v1',
    'kube-controller-manager',
  ],
] as const)(
  'SSA-17: in the profile %s flow control and quotas are written by name',
  async (profile, domain, producer, consumer, counter) => {
    const { client, stop, settled } = await start({ profile, controllers: ['*'] })
    onTestFinished(stop)
    const managersOf = ({ metadata }: ApiObject) =>
      Object.fromEntries((metadata.managedFields ?? []).map(({ manager = '', subresource = '' }) => [subresource, manager]))
    const flow = { group: `flowcontrol.apiserver.${domain}`, version: 'v1', namespaced: false }
    const schemas = client.resource({ ...flow, plural: 'flowschemas' })
    const levels = client.resource({ ...flow, plural: 'prioritylevelconfigurations' })
    await vi.waitFor(async () => expect(managersOf(await schemas.get('exempt'))).toEqual({ '': producer, status: consumer }), {
      timeout: 90_000,
    })
    expect(managersOf(await levels.get('exempt'))).toEqual({ '': producer })
    await schemas.delete('probes')
    await vi.waitFor(async () => expect(managersOf(await schemas.get('probes'))).toMatchObject({ '': producer }), { timeout: 90_000 })
    const quotas = client.resource({ group: '', version: 'v1', plural: 'resourcequotas', namespaced: true })
    const hard = { configmaps: '9', secrets: '9' }
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace: 'default' }, spec: { hard } }
    // A ConfigMap of a controller that admission counts would change the owner of the count.
    await settled()
    await quotas.create(quota, { fieldManager: 'maker' })
    const statusOwners = async () => {
      const { metadata } = await quotas.get('q', { namespace: 'default' })
      const entries = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status')
      return Object.fromEntries(entries.map(({ manager = '', fieldsV1 }) => [manager, fieldsV1]))
    }
    const counts = { '.': {}, 'f:configmaps': {}, 'f:secrets': {} }
    await vi.waitFor(
      async () => expect(await statusOwners()).toEqual({ [counter]: { 'f:status': { 'f:hard': counts, 'f:used': counts } } }),
      {
        timeout: 90_000,
      },
    )
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' } }
    await client.resource({ group: '', version: 'v1', plural: 'secrets', namespaced: true }).create(secret)
    const admission = profile === 'orch' ? 'orch-apiserver' : 'kube-apiserver'
    expect(await statusOwners()).toEqual({
      [counter]: { 'f:status': { 'f:hard': counts, 'f:used': { '.': {}, 'f:configmaps': {} } } },
      [admission]: { 'f:status': { 'f:used': { 'f:secrets': {} } } },
    })
  },
)
