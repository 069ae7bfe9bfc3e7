import { expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi({ profile: 'kubernetes', flags: ['--emulated-version=1.37'] })
const betas = sharedApi({
  profile: 'kubernetes',
  flags: ['--emulated-version=1.37', '--runtime-config=resource.k8s.io/v1beta1,resource.k8s.io/v1beta2'],
})
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

test('TODAY-DRA-01: admin access needs a label of the namespace, in a claim, a template and an allocation', async () => {
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

test('TODAY-DRA-02: the status of devices is removed with their allocation', async () => {
  const claim = await aClaim(await aNamespace(server.api))
  await patchStatus(claim, { allocation: { devices: { results: [device('x'), device('y')] } } })
  const { request: _r, ...x } = device('x')
  expect((await patchStatus(claim, { devices: [x] })).status).toBe(200)
  expect((await patchStatus(claim, { allocation: null })).body['status']).toEqual({})
})

test('TODAY-DRA-02: an allocation needs a special right, and the status of a device needs a right for its driver', async () => {
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

test('TODAY-DRA-04: a taint with another effect is a new taint, and the server sets its time', async () => {
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

test('TODAY-QUOTA-01: a claim for more devices of a class than the quota allows is refused', async () => {
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

test('TODAY-VER-03: beta versions are served if the configuration enables them, with their deprecation', async () => {
  expect((await server.api.get('/apis/resource.k8s.io/v1beta2')).status).toBe(404)
  const { body } = await betas.api.get('/apis/resource.k8s.io')
  expect((body as unknown as { versions: { version: string }[] }).versions.map(({ version }) => version)).toEqual([
    'v1',
    'v1beta2',
    'v1beta1',
  ])
  const warningOf = async (version: string) => (await betas.api.get(`/apis/resource.k8s.io/${version}/deviceclasses`)).headers.warning
  expect(await Promise.all(['v1beta1', 'v1beta2', 'v1'].map(warningOf))).toEqual([
    '299 - "resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+"',
    '299 - "resource.k8s.io/v1beta2 DeviceClass is deprecated in v1.36+, unavailable in v1.39+"',
    undefined,
  ])
})

test('TODAY-VER-03: a claim of v1beta1 has flat requests, and is the same claim in v1', async () => {
  const { api } = betas
  const namespace = await aNamespace(api)
  const path = (version: string) => `/apis/resource.k8s.io/${version}/namespaces/${namespace}/resourceclaims`
  const devices = (requests: object[]) => ({ devices: { requests } })
  const wanted = { deviceClassName: 'c', selectors: [{ cel: { expression: 'true' } }] }
  const flat = [
    { name: 'a', ...wanted },
    { name: 'b', firstAvailable: [{ name: 's', deviceClassName: 'c' }] },
  ]
  const beta = { apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceClaim', metadata: { name: 'x' }, spec: devices(flat) }
  const one = { allocationMode: 'ExactCount', count: 1 }
  const alternative = { name: 's', deviceClassName: 'c', ...one }
  const made = await created(api, path('v1beta1'), beta)
  expect(made['spec']).toEqual(
    devices([
      { ...flat[0], ...one },
      { name: 'b', deviceClassName: '', firstAvailable: [alternative] },
    ]),
  )
  const exactly = { ...wanted, ...one }
  for (const version of ['v1', 'v1beta2']) {
    expect((await api.get(`${path(version)}/x`)).body['spec']).toEqual(
      devices([
        { name: 'a', exactly },
        { name: 'b', firstAvailable: [alternative] },
      ]),
    )
  }
  const wrong = await api.post(path('v1beta1'), { ...beta, metadata: { name: 'y' }, spec: devices([{ name: 'a', deviceClassName: 'C_' }]) })
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining('spec.devices.requests[0].exactly.deviceClassName: Invalid value'),
  ])
  const status = { allocation: { devices: { results: [{ request: 'b/s', driver: 'd', pool: 'p', device: 'x' }] } } }
  expect((await api.patch(`${path('v1beta1')}/x/status`, { status })).body['status']).toEqual(status)
})

test('TODAY-VER-03: a device of v1beta1 has its attributes in the member basic, and is the same device in v1', async () => {
  const { api } = betas
  const path = (version: string) => `/apis/resource.k8s.io/${version}/resourceslices`
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const basic = { attributes: { model: { string: 'x' } }, taints: [{ key: 'k', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }] }
  const spec = { driver: 'd', pool, nodeName: 'n', devices: [{ name: 'a', basic }, { name: 'b' }] }
  const made = await created(api, path('v1beta1'), {
    apiVersion: 'resource.k8s.io/v1beta1',
    kind: 'ResourceSlice',
    metadata: { name: 's' },
    spec,
  })
  expect(made['spec']).toEqual({
    ...spec,
    devices: [
      { name: 'a', basic },
      { name: 'b', basic: {} },
    ],
  })
  expect((await api.get(`${path('v1')}/s`)).body['spec']).toEqual({ ...spec, devices: [{ name: 'a', ...basic }, { name: 'b' }] })
  const untimed = { name: 'a', basic: { taints: [{ key: 'k', effect: 'None' }] } }
  const { body } = await api.patch(`${path('v1beta1')}/s`, { spec: { devices: [untimed] } })
  expect(body).toMatchObject({ spec: { devices: [{ basic: { taints: [{ timeAdded: expect.stringContaining('Z') }] } }] } })
})

test('a rule of device taints is replaced without a resourceVersion at the path of a beta version alone', async () => {
  const taint = { key: 'k', effect: 'NoSchedule', timeAdded: '2026-01-01T00:00:00Z' }
  const answers = []
  for (const version of ['v1beta2', 'v1']) {
    const path = `/apis/resource.k8s.io/${version}/devicetaintrules`
    const rule = { apiVersion: `resource.k8s.io/${version}`, kind: 'DeviceTaintRule', metadata: { name: aName('rule') }, spec: { taint } }
    await created(betas.api, path, rule)
    const { status, text } = await betas.api.put(`${path}/${rule.metadata.name}`, rule)
    answers.push([status, text.includes('must be specified for an update')])
  }
  expect(answers).toEqual([
    [200, false],
    [422, true],
  ])
})

test('the status of a Pod keeps the device claims that its writer omits, and an empty list removes them', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
  const resourceClaims = [{ name: 'r', resourceClaimTemplateName: 't' }]
  const spec = { containers: [{ name: 'c', image: 'i', resources: { claims: [{ name: 'r' }] } }], resourceClaims }
  const made = await created(server.api, path, { metadata: { name: 'p' }, spec })
  const putStatus = async (status: object) =>
    (await server.api.put(`${path}/p/status`, { ...made, metadata: { name: 'p' }, status })).body['status']
  const resourceClaimStatuses = [{ name: 'r', resourceClaimName: 'made' }]
  expect(await putStatus({ resourceClaimStatuses })).toMatchObject({ resourceClaimStatuses })
  expect(await putStatus({ phase: 'Running' })).toMatchObject({ phase: 'Running', resourceClaimStatuses })
  expect(await putStatus({ phase: 'Running', resourceClaimStatuses: [] })).not.toHaveProperty('resourceClaimStatuses')
})
