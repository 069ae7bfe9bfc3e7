import { expect, test } from 'vitest'
import { type Api, aNamespace, anApi, created } from './api.ts'

const drivers = '/apis/storage.orch.io/v1/csidrivers'
const driver = { metadata: { name: 'd.example' }, spec: { seLinuxMount: true } }

const specAt = async (api: Api, path: string) => (await api.get(path)).body['spec'] as Record<string, unknown>

test('GATE-01: a field of an alpha feature is dropped in a create and in a patch', async () => {
  const api = await anApi({ version: '1.25' })
  await created(api, drivers, driver)
  expect(await specAt(api, `${drivers}/d.example`)).not.toHaveProperty('seLinuxMount')
  const patched = await api.patch(`${drivers}/d.example`, { spec: { seLinuxMount: true, requiresRepublish: true } })
  expect(patched.body).toMatchObject({ metadata: { generation: 1 }, spec: { requiresRepublish: true } })
  expect(patched.body['spec']).not.toHaveProperty('seLinuxMount')
})

test('GATE-01: the server sets no field of an alpha feature in a new object or in a new status', async () => {
  const api = await anApi({ version: '1.28' })
  const volumes = '/api/v1/persistentvolumes'
  const volume = {
    metadata: { name: 'v' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/v' } },
  }
  expect(await created(api, volumes, volume)).not.toHaveProperty('status.lastPhaseTransitionTime')
  const { body } = await api.patch(`${volumes}/v/status`, { status: { phase: 'Available' } })
  expect(body['status']).toEqual({ phase: 'Available' })
})

test('GATE-11: a feature that is switched on keeps its fields, with their defaults', async () => {
  const api = await anApi({ version: '1.25', featureGates: ['SELinuxMountReadWriteOncePod=true'] })
  await created(api, drivers, driver)
  await created(api, drivers, { metadata: { name: 'e.example' }, spec: {} })
  expect(await specAt(api, `${drivers}/d.example`)).toHaveProperty('seLinuxMount', true)
  expect(await specAt(api, `${drivers}/e.example`)).toHaveProperty('seLinuxMount', false)
})

test('GATE-01, GATE-11: fields of Jobs and StatefulSets are dropped while their feature is off, and get defaults while it is on', async () => {
  const spec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] }
  const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] }
  const job = { metadata: { name: 'j' }, spec: { podFailurePolicy, template: { spec } } }
  const selector = { matchLabels: { a: 'b' } }
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: spec.containers } }
  const set = { metadata: { name: 's' }, spec: { selector, template, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } } }
  const madeBy = async (api: Api) => {
    const namespace = await aNamespace(api)
    const { spec: ofJob } = await created(api, `/apis/batch/v1/namespaces/${namespace}/jobs`, job)
    const { spec: ofSet } = await created(api, `/apis/apps/v1/namespaces/${namespace}/statefulsets`, set)
    const { updateStrategy, persistentVolumeClaimRetentionPolicy } = ofSet as Record<string, unknown>
    return { ...(ofJob as object), updateStrategy, persistentVolumeClaimRetentionPolicy }
  }
  const off = await madeBy(await anApi({ version: '1.25' }))
  expect(off).toMatchObject({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } })
  expect(off.updateStrategy).not.toHaveProperty('rollingUpdate.maxUnavailable')
  expect(off).not.toHaveProperty('podFailurePolicy')
  expect(off.persistentVolumeClaimRetentionPolicy).toBeUndefined()
  const featureGates = ['JobPodFailurePolicy=true', 'MaxUnavailableStatefulSet=true', 'StatefulSetAutoDeletePVC=true']
  expect(await madeBy(await anApi({ version: '1.25', featureGates }))).toMatchObject({
    podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
    updateStrategy: { rollingUpdate: { partition: 0, maxUnavailable: 1 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
  })
})

test('GATE-01, GATE-11: a value of an alpha feature is refused until the feature is on', async () => {
  const claim = { metadata: { name: 'c' }, spec: { accessModes: ['ReadWriteOncePod'], resources: { requests: { storage: '1Gi' } } } }
  const create = async (api: Api) => {
    const answer = await api.post(`/api/v1/namespaces/${await aNamespace(api)}/persistentvolumeclaims`, claim)
    return answer.status
  }
  expect(await create(await anApi({ version: '1.25' }))).toBe(422)
  expect(await create(await anApi({ version: '1.25', featureGates: ['ReadWriteOncePod=true'] }))).toBe(201)
})

test('GATE-02, GATE-11: a field of a beta feature that is switched off is dropped', async () => {
  const service = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
  const policy = async (api: Api) => {
    const path = `/api/v1/namespaces/${await aNamespace(api)}/services`
    return ((await created(api, path, service))['spec'] as Record<string, unknown>)['internalTrafficPolicy']
  }
  expect(await policy(await anApi({ version: '1.25' }))).toBe('Cluster')
  expect(await policy(await anApi({ version: '1.25', featureGates: ['ServiceInternalTrafficPolicy=false'] }))).toBeUndefined()
})
