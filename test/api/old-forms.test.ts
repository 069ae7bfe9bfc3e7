import { describe, expect, test } from 'vitest'
import { type Answer, aName, aNamespace, type Body, created, namesOfItems, sharedApi } from './api.ts'

// The conversions between a version of a kind and its internal form that kube-apiserver implements by hand.
const server = sharedApi({ controllers: [] })

const containers = [{ name: 'c', image: 'i' }]
const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
const workload = { selector: { matchLabels: { a: 'b' } }, template }
const statusOf = ({ body }: Answer) => body['status'] as Record<string, unknown>
const specOf = ({ spec }: Body) => spec as Record<string, unknown>

async function aPod(metadata: object = {}, spec: object = {}): Promise<{ path: string; pod: Body }> {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
  return { path, pod: await created(server.api, path, { metadata: { name: 'p', ...metadata }, spec: { containers, ...spec } }) }
}

describe('Pods', () => {
  test('MACH-WRITE-13: get podIPs from podIP and podIP from podIPs, podIP takes precedence, and field selectors use it', async () => {
    const { path } = await aPod()
    const addresses = async (status: object) => {
      const { podIP, podIPs } = statusOf(await server.api.patch(`${path}/p/status`, { status }))
      return { podIP, podIPs }
    }
    expect(await addresses({ podIP: '192.0.2.1' })).toEqual({ podIP: '192.0.2.1', podIPs: [{ ip: '192.0.2.1' }] })
    expect(namesOfItems((await server.api.get(`${path}?fieldSelector=status.podIP=192.0.2.1`)).body)).toEqual(['p'])
    const both = [{ ip: '192.0.2.2' }, { ip: '2001:db8::1' }]
    expect(await addresses({ podIP: null, podIPs: both })).toEqual({ podIP: '192.0.2.2', podIPs: both })
    expect(namesOfItems((await server.api.get(`${path}?fieldSelector=status.podIP=192.0.2.2`)).body)).toEqual(['p'])
    expect(await addresses({ podIP: '192.0.2.3' })).toEqual({ podIP: '192.0.2.3', podIPs: [{ ip: '192.0.2.3' }] })
    expect(await addresses({ podIP: null, podIPs: null })).toEqual({ podIP: undefined, podIPs: undefined })
  })

  test('MACH-WRITE-13: with an invalid podIP are refused', async () => {
    const { path } = await aPod()
    const answer = await server.api.patch(`${path}/p/status`, { status: { podIP: 'no address' } })
    expect(answer).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'status.podIPs[0]' }] } } })
  })

  test('lose the annotations with init containers of old clients, also in templates', async () => {
    const annotations = { 'pod.alpha.orch.io/init-containers': 'x', 'pod.beta.orch.io/init-container-statuses': 'y' }
    const { path, pod } = await aPod({ annotations: { ...annotations, stays: 'z' } })
    expect(pod.metadata['annotations']).toEqual({ stays: 'z' })
    expect((await server.api.patch(`${path}/p`, { metadata: { annotations } })).body.metadata['annotations']).toEqual({ stays: 'z' })
    expect((await aPod({ annotations })).pod.metadata).not.toHaveProperty('annotations')
    const made = await created(server.api, `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/replicasets`, {
      metadata: { name: 'r' },
      spec: { ...workload, template: { ...template, metadata: { labels: { a: 'b' }, annotations } } },
    })
    expect(specOf(made)['template']).not.toHaveProperty('metadata.annotations')
  })

  test('with a negative grace period get one second, and in a template keep it', async () => {
    const { pod } = await aPod({}, { terminationGracePeriodSeconds: -5 })
    expect(specOf(pod)['terminationGracePeriodSeconds']).toBe(1)
    const made = await created(server.api, `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/deployments`, {
      metadata: { name: 'd' },
      spec: { ...workload, template: { ...template, spec: { containers, terminationGracePeriodSeconds: -5 } } },
    })
    expect(specOf(made)['template']).toHaveProperty('spec.terminationGracePeriodSeconds', -5)
  })
})

describe('Nodes', () => {
  test('keep the status given at creation, with capacity as allocatable; an update does not change the status', async () => {
    const name = aName('node')
    const capacity = { cpu: '4', memory: '8Gi' }
    const status = { capacity, conditions: [{ type: 'Ready', status: 'True' }], addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] }
    const made = await created(server.api, '/api/v1/nodes', { metadata: { name }, status })
    expect(made['status']).toMatchObject({ capacity, allocatable: capacity, addresses: status.addresses, conditions: [{ type: 'Ready' }] })
    const { body } = await server.api.patch(`/api/v1/nodes/${name}`, {
      status: { capacity: { cpu: '9' } },
      metadata: { labels: { a: 'b' } },
    })
    expect(body).toMatchObject({ metadata: { labels: { a: 'b' } }, status: { capacity } })
  })

  test('are created only with valid quantities in their status', async () => {
    const answer = await server.api.post('/api/v1/nodes', { metadata: { name: aName('node') }, status: { capacity: { cpu: '-1' } } })
    expect(answer).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'status.capacity[cpu]' }, {}] } } })
  })

  test('use podCIDR if the first of podCIDRs differs', async () => {
    const ranges = async (spec: object) => specOf(await created(server.api, '/api/v1/nodes', { metadata: { name: aName('node') }, spec }))
    const podCIDR = '10.1.0.0/24'
    expect(await ranges({ podCIDR, podCIDRs: ['10.2.0.0/24', 'fd00::/64'] })).toMatchObject({ podCIDR, podCIDRs: [podCIDR] })
    expect(await ranges({ podCIDR })).toMatchObject({ podCIDR, podCIDRs: [podCIDR] })
    expect(await ranges({ podCIDRs: [podCIDR, 'fd00::/64'] })).toMatchObject({ podCIDR, podCIDRs: [podCIDR, 'fd00::/64'] })
  })
})

describe('claims', () => {
  const claim = async (sources: object) => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/persistentvolumeclaims`
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...sources }
    return server.api.post(path, { metadata: { name: 'c' }, spec })
  }
  const source = { kind: 'PersistentVolumeClaim', name: 'n' }
  const snapshot = { apiGroup: 'snapshot.storage.orch.io', kind: 'VolumeSnapshot', name: 'n' }
  const other = { apiGroup: 'example.com', kind: 'Other', name: 'n' }

  test.each([
    [{ dataSource: { kind: 'Other', name: 'n' } }, {}],
    [{ dataSource: other }, {}],
    [{ dataSource: {} }, {}],
    [{ dataSource: source }, { dataSource: source, dataSourceRef: source }],
    [{ dataSource: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
    [{ dataSourceRef: other }, { dataSource: other, dataSourceRef: other }],
    [
      { dataSource: other, dataSourceRef: other },
      { dataSource: other, dataSourceRef: other },
    ],
  ])('that are created with %j have %j', async (given, wanted) => {
    const { status, body } = await claim(given)
    const { dataSource, dataSourceRef } = specOf(body)
    const none = { dataSource: undefined, dataSourceRef: undefined }
    expect({ status, dataSource, dataSourceRef }).toMatchObject({ status: 201, ...none, ...wanted })
  })

  test('with two different data sources are refused', async () => {
    expect((await claim({ dataSource: source, dataSourceRef: other })).status).toBe(422)
  })

  test('keep dataSource and dataSourceRef if an older client omits one of them in an update', async () => {
    const { body } = await claim({ dataSourceRef: other })
    const { dataSourceRef: _left, ...spec } = specOf(body)
    const path = `/api/v1/namespaces/${body.metadata.namespace}/persistentvolumeclaims/c`
    expect(specOf((await server.api.put(path, { ...body, spec })).body)).toMatchObject({ dataSource: other, dataSourceRef: other })
  })
})

describe('annotations with numbers', () => {
  const generation = 'deprecated.daemonset.template.generation'
  const rollback = 'deprecated.deployment.rollback.to'

  test.each([
    ['daemonsets', generation, 'abc', 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ['daemonsets', generation, '', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['daemonsets', generation, '9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    [
      'deployments',
      rollback,
      'abc',
      `failed to parse annotation[${rollback}]=abc as int64: strconv.ParseInt: parsing "abc": invalid syntax`,
    ],
  ])('%s, %s, with %j is invalid', async (plural, annotation, value, text) => {
    const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/${plural}`
    const kind = plural === 'daemonsets' ? 'DaemonSet' : 'Deployment'
    const answer = await server.api.post(path, { metadata: { name: 'x', annotations: { [annotation]: value } }, spec: workload })
    expect(answer).toMatchObject({ status: 400, body: { message: `${kind} in version "v1" cannot be handled as a ${kind}: ${text}` } })
    const made = await created(server.api, path, { metadata: { name: 'x', annotations: { [annotation]: '7' } }, spec: workload })
    expect(made.metadata['annotations']).toEqual({ [annotation]: '7' })
    expect((await server.api.patch(`${path}/x`, { metadata: { annotations: { [annotation]: value } } })).status).toBe(422)
  })
})

test('annotations of v1 do not stay on an autoscaler of v2', async () => {
  const path = `/apis/autoscaling/v2/namespaces/${await aNamespace(server.api)}/horizontalpodautoscalers`
  const spec = { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } }
  const annotations = { 'autoscaling.alpha.orch.io/metrics': 'broken{', 'autoscaling.alpha.orch.io/behavior': '{}' }
  const made = await created(server.api, path, { metadata: { name: 'h', annotations: { ...annotations, stays: 'a' } }, spec })
  expect(made.metadata['annotations']).toEqual({ stays: 'a' })
  expect((await server.api.patch(`${path}/h`, { metadata: { annotations } })).body.metadata['annotations']).toEqual({ stays: 'a' })
  const first = await server.api.post(path.replace('/v2/', '/v1/'), { metadata: { name: 'g', annotations }, spec })
  expect(first).toMatchObject({ status: 201, body: { spec: { targetCPUUtilizationPercentage: 80 } } })
})

test('META-21: an owner whose apiVersion is not a group version is refused', async () => {
  const { path } = await aPod()
  for (const apiVersion of ['a/b/c', 'a/', '/']) {
    const ownerReferences = [{ apiVersion, kind: 'K', name: 'n', uid: 'u' }]
    const answer = await server.api.patch(`${path}/p`, { metadata: { ownerReferences } })
    expect(answer).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'metadata.ownerReferences[0].apiVersion' }] } } })
  }
})
