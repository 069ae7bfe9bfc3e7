import { expect, test } from 'vitest'
import { aName, aNamespace, anApi, type Body, created, sharedApi } from './api.ts'

const server = sharedApi({ version: '1.25', controllers: ['bootstrap'], featureGates: ['SELinuxMountReadWriteOncePod=true'] })

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const generationOf = ({ metadata }: Body) => metadata.generation

test('a PodTemplate counts changes of its template as generations', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/podtemplates`
  expect(generationOf(await created(server.api, path, { metadata: { name: 't' }, template }))).toBe(1)
  expect(generationOf((await server.api.patch(`${path}/t`, { metadata: { labels: { x: 'y' } } })).body)).toBe(1)
  const changed = { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } }
  expect(generationOf((await server.api.patch(`${path}/t`, changed)).body)).toBe(2)
})

test('a CSIDriver has a generation from the first change that nodes act on', async () => {
  const path = '/apis/storage.orch.io/v1/csidrivers'
  const name = `${aName('driver')}.example.com`
  const made = await created(server.api, path, { metadata: { name }, spec: {} })
  expect(made.metadata).not.toHaveProperty('generation')
  const patched = async (change: unknown) => generationOf((await server.api.patch(`${path}/${name}`, change)).body)
  expect(await patched({ spec: { storageCapacity: true } })).toBeUndefined()
  expect(await patched({ spec: { requiresRepublish: true } })).toBe(1)
  expect(await patched({ spec: { tokenRequests: [{ audience: 'a' }] } })).toBe(2)
  expect(await patched({ spec: { seLinuxMount: true } })).toBe(3)
  expect(await patched({ metadata: { labels: { x: 'y' } } })).toBe(3)
})

test('the generation of a PriorityClass does not change', async () => {
  const path = '/apis/scheduling.orch.io/v1/priorityclasses'
  const name = aName('class')
  expect(generationOf(await created(server.api, path, { metadata: { name }, value: 1 }))).toBe(1)
  expect(generationOf((await server.api.patch(`${path}/${name}`, { description: 'other' })).body)).toBe(1)
})

test('an EndpointSlice counts changes of its endpoints and labels as generations, and drops topology', async () => {
  const path = `/apis/discovery.orch.io/v1/namespaces/${await aNamespace(server.api)}/endpointslices`
  const endpoint = { addresses: ['10.0.0.1'], deprecatedTopology: { 'orch.io/hostname': 'n' } }
  const made = await created(server.api, path, { metadata: { name: 'e' }, addressType: 'IPv4', endpoints: [endpoint] })
  expect([generationOf(made), made['endpoints']]).toEqual([1, [{ addresses: ['10.0.0.1'], conditions: {} }]])
  const patched = async (change: unknown) => (await server.api.patch(`${path}/e`, change)).body
  expect(generationOf(await patched({ metadata: { annotations: { x: 'y' } } }))).toBe(1)
  expect(generationOf(await patched({ metadata: { labels: { x: 'y' } } }))).toBe(2)
  const changed = await patched({ endpoints: [{ ...endpoint, addresses: ['10.0.0.2'] }] })
  expect([generationOf(changed), changed['endpoints']]).toEqual([3, [{ addresses: ['10.0.0.2'], conditions: {} }]])
})

test('an empty list that is stored as null changes nothing when it is sent again', async () => {
  const namespace = await aNamespace(server.api)
  const spec = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', projected: { sources: [] } }] }
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments`
  const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { ...template, spec } } }
  const made = await created(server.api, path, deployment)
  expect(made).toMatchObject({ spec: { template: { spec: { volumes: [{ projected: { sources: null } }] } } } })
  const changed = await server.api.put(`${path}/d`, { ...deployment, metadata: { name: 'd', labels: { x: 'y' } } })
  expect([changed.status, generationOf(changed.body)]).toEqual([200, 1])
  const pods = `/api/v1/namespaces/${namespace}/pods`
  const pod = await created(server.api, pods, { metadata: { name: 'p' }, spec })
  const sent = { ...pod, metadata: { ...pod.metadata, labels: { x: 'y' } }, spec: { ...(pod['spec'] as object), volumes: spec.volumes } }
  expect((await server.api.put(`${pods}/p`, sent)).status).toBe(200)
})

test('a DaemonSet counts changes of its template in an annotation that only the server writes', async () => {
  const path = `/apis/apps/v1/namespaces/${await aNamespace(server.api)}/daemonsets`
  const annotation = 'deprecated.daemonset.template.generation'
  const countOf = ({ metadata }: Body) => (metadata['annotations'] as Record<string, string> | undefined)?.[annotation]
  const set = { metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } }
  const made = await created(server.api, path, set)
  expect(countOf(made)).toBe('1')
  const image = (tag: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: `i:${tag}` }] } } } })
  const patched = async (change: unknown) => countOf((await server.api.patch(`${path}/d`, change)).body)
  expect(await patched(image('2'))).toBe('2')
  expect(await patched({ spec: { minReadySeconds: 1 } })).toBe('2')
  expect(await patched({ metadata: { annotations: { [annotation]: '7' } } })).toBe('2')
  expect(await patched({ metadata: { annotations: null } })).toBe('2')
  expect(countOf((await server.api.put(`${path}/d`, { ...made, metadata: { name: 'd' } })).body)).toBe('3')
  const status = {
    ...made,
    metadata: { name: 'd' },
    status: { numberReady: 0, currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0 },
  }
  expect(countOf((await server.api.put(`${path}/d/status`, status)).body)).toBe('3')
  for (const [given, count] of [
    ['5', '5'],
    ['0', '1'],
  ]) {
    const metadata = { generateName: 'd-', annotations: { [annotation]: given } }
    expect(countOf(await created(server.api, path, { ...set, metadata }))).toBe(count)
  }
})

test('a Job shows that its Pods are tracked by finalizers', async () => {
  const path = `/apis/batch/v1/namespaces/${await aNamespace(server.api)}/jobs`
  const spec = { template: { spec: { ...template.spec, restartPolicy: 'Never' } } }
  const { metadata } = await created(server.api, path, { metadata: { name: 'j', annotations: { x: 'y' } }, spec })
  expect(metadata['annotations']).toEqual({ 'batch.orch.io/job-tracking': '', x: 'y' })
  expect(JSON.stringify(metadata['managedFields'])).not.toContain('job-tracking')
  const annotate = (value: string | null) =>
    server.api.patch(`${path}/j`, { metadata: { annotations: { 'batch.orch.io/job-tracking': value } } })
  expect((await annotate('x')).status).toBe(200)
  expect((await annotate(null)).status).toBe(200)
  const { status, body } = await annotate('')
  expect([status, body['message']]).toEqual([
    422,
    'Job.batch "j" is invalid: metadata.annotations[batch.orch.io/job-tracking]: Forbidden: cannot add this annotation',
  ])
})

test('a StorageVersionMigration has no generation, after any write', async () => {
  const api = await anApi({ controllers: ['bootstrap'] })
  const path = '/apis/storagemigration.orch.io/v1/storageversionmigrations'
  const made = await created(api, path, {
    metadata: { name: 'm' },
    spec: { resource: { group: 'none.example.com', resource: 'none' } },
  })
  expect(made.metadata).not.toHaveProperty('generation')
  expect((await api.patch(`${path}/m`, { metadata: { labels: { a: 'b' } } })).body.metadata).not.toHaveProperty('generation')
})
