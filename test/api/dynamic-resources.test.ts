import { expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes', flags: ['--emulated-version=1.37'] })
const group = '/apis/resource.k8s.io/v1'
const apiVersion = 'resource.k8s.io/v1'

const request = (fields: object = {}) => ({ devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c', ...fields } }] } })
const device = (name: string) => ({ request: 'r', driver: 'd.example.com', pool: 'p', device: name })

/** The path of a new claim. */
async function aClaim(namespace: string): Promise<string> {
  const path = `${group}/namespaces/${namespace}/resourceclaims`
  const name = aName('claim')
  await created(server.api, path, { apiVersion, kind: 'ResourceClaim', metadata: { name }, spec: request() })
  return `${path}/${name}`
}

const patchStatus = (path: string, status: object, headers: Record<string, string> = {}) =>
  server.api.send('PATCH', `${path}/status`, { headers: { 'content-type': 'application/merge-patch+json', ...headers }, body: { status } })

test('TODAY-DRA-01: access for administration needs a label of the namespace, in a claim, a template and an allocation', async () => {
  const namespace = await aNamespace(server.api)
  const post = (plural: string, kind: string, spec: object) =>
    server.api.post(`${group}/namespaces/${namespace}/${plural}`, { apiVersion, kind, metadata: { name: aName('a') }, spec })
  const spec = request({ adminAccess: true })
  const claim = await aClaim(namespace)
  const tries = () =>
    Promise.all([
      post('resourceclaims', 'ResourceClaim', spec),
      post('resourceclaimtemplates', 'ResourceClaimTemplate', { spec }),
      patchStatus(claim, { allocation: { devices: { results: [{ ...device('x'), adminAccess: true }] } } }),
    ])
  const refused = await tries()
  expect(refused.map(({ status }) => status)).toEqual([422, 422, 422])
  for (const { text } of refused)
    expect(text).toContain('admin access to devices requires the `resource.kubernetes.io/admin-access: true` label')
  await server.api.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { 'resource.kubernetes.io/admin-access': 'true' } } })
  expect((await tries()).map(({ status }) => status)).toEqual([201, 201, 200])
})

test('TODAY-DRA-02: the state of devices goes with their allocation', async () => {
  const claim = await aClaim(await aNamespace(server.api))
  await patchStatus(claim, { allocation: { devices: { results: [device('x'), device('y')] } } })
  const { request: _r, ...x } = device('x')
  expect((await patchStatus(claim, { devices: [x] })).status).toBe(200)
  expect((await patchStatus(claim, { allocation: null })).body['status']).toEqual({})
})

test('TODAY-DRA-02: an allocation needs a right of its own, and the state of a device another one for its driver', async () => {
  const claim = await aClaim(await aNamespace(server.api))
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const user = aName('driver')
  const grant = async (rules: object[]) => {
    const name = aName('role')
    await created(server.api, `${rbac}/clusterroles`, { metadata: { name }, rules })
    await created(server.api, `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
    })
  }
  const asUser = { 'impersonate-user': user }
  const allocation = { devices: { results: [device('x')] } }
  const { request: _r, ...x } = device('x')
  const apiGroups = ['resource.k8s.io']
  await grant([{ apiGroups, resources: ['resourceclaims', 'resourceclaims/status'], verbs: ['get', 'patch'] }])
  const unbound = await patchStatus(claim, { allocation }, asUser)
  expect(unbound.status).toBe(422)
  expect(unbound.text).toContain(
    'changing status.allocation or status.reservedFor requires resource=\\"resourceclaims/binding\\", verb=\\"patch\\"',
  )
  await grant([{ apiGroups, resources: ['resourceclaims/binding'], verbs: ['patch'] }])
  expect((await patchStatus(claim, { allocation }, asUser)).status).toBe(200)
  const silent = await patchStatus(claim, { devices: [x] }, asUser)
  expect(silent.status).toBe(422)
  expect(silent.text).toContain('changing status.devices requires resource=\\"resourceclaims/driver\\", verb=\\"[arbitrary-node:patch]\\"')
  await grant([{ apiGroups, resources: ['resourceclaims/driver'], resourceNames: ['d.example.com'], verbs: ['arbitrary-node:patch'] }])
  expect((await patchStatus(claim, { devices: [x] }, asUser)).status).toBe(200)
})

test('TODAY-DRA-04: a taint with another effect is a new one, whose time the server sets', async () => {
  const name = aName('rule')
  const path = `${group}/devicetaintrules`
  const before = '2026-01-01T00:00:00Z'
  const taint = { key: 'k', effect: 'NoExecute', timeAdded: before }
  await created(server.api, path, { apiVersion, kind: 'DeviceTaintRule', metadata: { name }, spec: { taint } })
  const timeAfter = async (change: object) => {
    const { body } = await server.api.patch(`${path}/${name}`, { spec: { taint: change } })
    return (body as { spec?: { taint: { timeAdded: string } } }).spec?.taint.timeAdded
  }
  expect(await timeAfter({ value: 'v' })).toBe(before)
  expect(await timeAfter({ effect: 'None' })).not.toBe(before)
  expect(await timeAfter({ effect: 'NoSchedule', timeAdded: before })).toBe(before)
})

test('TODAY-QUOTA-01: a claim for more devices of a class than a quota has left is refused', async () => {
  const namespace = await aNamespace(server.api)
  const devices = 'gold.deviceclass.resource.k8s.io/devices'
  await created(server.api, `/api/v1/namespaces/${namespace}/resourcequotas`, {
    metadata: { name: 'q' },
    spec: { hard: { [devices]: '2' } },
  })
  const claim = (count: number) =>
    server.api.post(`${group}/namespaces/${namespace}/resourceclaims`, {
      ...{ apiVersion, kind: 'ResourceClaim', metadata: { name: aName('claim') } },
      spec: request({ deviceClassName: 'gold', count }),
    })
  expect((await claim(2)).status).toBe(201)
  const { status, body } = await claim(1)
  expect([status, body['message']]).toEqual([
    403,
    expect.stringContaining(`requested: ${devices}=1, used: ${devices}=2, limited: ${devices}=2`),
  ])
})
