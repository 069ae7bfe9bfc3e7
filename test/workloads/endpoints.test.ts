import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, refuse, start, type VirtualClock, virtualClock } from 'orch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const endpoints = { group: '', version: 'v1', plural: 'endpoints', namespaced: true }
const namespace = 'default'
const user = 'system:serviceaccount:kube-system:endpoint-controller'

test('WL-EP-35: at the start Endpoints without a Service are deleted, except for those of leader election', async () => {
  await using before = await start({ profile: 'kubernetes', controllers: ['-*'] })
  const named = (name: string, annotations?: Record<string, string>): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace, annotations },
  })
  await before.client.objects.create({ ...named('by-hand'), kind: 'Service', spec: { ports: [{ port: 80 }] } })
  for (const name of ['gone', 'by-hand']) await before.client.objects.create(named(name))
  await before.client.objects.create(named('elected', { 'control-plane.alpha.kubernetes.io/leader': '{}' }))
  await using server = await start({ from: before.snapshot(), controllers: ['*', 'endpoint'] })
  const collection = server.client.resource(endpoints)
  await server.settled({ within: 60_000 })
  await collection.create(named('later'))
  await server.settled({ within: 60_000 })
  const { items } = await collection.list({ namespace })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['by-hand', 'elected', 'kubernetes', 'later'])
})

test.each([
  { reason: 'AlreadyExists', code: 409, events: [] },
  { reason: 'Forbidden', code: 403, events: ['FailedToCreateEndpoint'] },
])(
  'WL-EP-33, WL-COMMON-02: Endpoints that are refused once as $reason are created later, with the events $events',
  async ({ reason, code, events }) => {
    await using server = await start({ profile: 'kubernetes', controllers: ['*', 'endpoint'] })
    const refused = server.faults.add({
      on: { user, verb: 'create', resource: 'endpoints' },
      times: 1,
      effect: refuse(code, { reason, always: true }),
    })
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] }
    await server.client.objects.create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace }, spec })
    await server.eventually({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web', namespace } }, {})
    await server.settled({ within: 60_000 })
    const told = await server.client
      .resource<ApiObject & { readonly reason: string }>({ ...endpoints, plural: 'events' })
      .list({ namespace })
    expect({ refused: refused.hits, events: told.items.map((event) => event.reason) }).toEqual({ refused: 1, events })
  },
)

interface Slice extends ApiObject {
  readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null
}

describe('a slice', () => {
  let server: RunningServer
  let clock: VirtualClock
  const collectionOf = (plural: string) => ({ ...endpoints, plural })
  const sliceType = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespaced: true }
  const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] }
  const own = 'endpointslice-controller.k8s.io'
  const managed = 'endpointslice.kubernetes.io/managed-by'
  const changeTime = 'endpoints.kubernetes.io/last-change-trigger-time'

  beforeAll(async () => {
    clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    server = await start({ clock, profile: 'kubernetes', controllers: ['*', 'endpoint', 'endpointslice'] })
    await clock.advance('5s')
  })

  afterAll(() => server?.stop())

  const slicesOf = async (service: string) =>
    (await server.client.resource<Slice>(sliceType).list({ namespace, labelSelector: `kubernetes.io/service-name=${service}` })).items

  test('WL-EP-17, WL-EP-24: follows the labels of its Service, is put right, and leaves slices of others alone', async () => {
    const { client } = server
    const labels = { 'kubernetes.io/service-name': 'web', [managed]: 'somebody' }
    const foreign = await client.objects.create({
      ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'foreign', namespace, labels } },
      ...{ addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.9'] }], ports: [] },
    })
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace, labels: { team: 'a' } }, spec }
    await client.objects.create(service)
    await clock.advance('5s')
    const ofController = async () => (await slicesOf('web')).filter(({ metadata }) => metadata.labels?.[managed] === own)
    const [first] = await ofController()
    expect(first?.metadata.labels?.['team']).toBe('a')
    await client.resource(collectionOf('services')).patch('web', { metadata: { labels: { team: 'b' } } }, { type: 'merge', namespace })
    await clock.advance('5s')
    expect((await ofController()).map(({ metadata }) => [metadata.name, metadata.labels?.['team']])).toEqual([[first?.metadata.name, 'b']])
    await client
      .resource(sliceType)
      .patch(first?.metadata.name ?? '', { metadata: { labels: { team: 'c' } } }, { type: 'merge', namespace })
    await clock.advance('5s')
    expect((await ofController()).map(({ metadata }) => metadata.labels?.['team'])).toEqual(['b'])
    expect((await slicesOf('web')).find(({ metadata }) => metadata.name === 'foreign')).toEqual(foreign)
  })

  test('WL-EP-14: without endpoints and ports has no manager of them, and gets the first endpoints of a Service without ports', async () => {
    const { client } = server
    const labels = { app: 'portless' }
    await client.objects.create({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'portless', namespace } },
      spec: { selector: labels, clusterIP: 'None' },
    })
    await clock.advance('5s')
    const [empty] = await slicesOf('portless')
    const owned = Object.keys(empty?.metadata.managedFields?.[0]?.fieldsV1 ?? {})
    expect([empty?.endpoints, owned]).toEqual([null, ['f:addressType', 'f:metadata']])
    await client.objects.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker' } })
    const pod = { spec: { nodeName: 'worker', containers: [{ name: 'c', image: 'i' }] }, metadata: { name: 'q', namespace, labels } }
    await client.objects.create({ apiVersion: 'v1', kind: 'Pod', ...pod })
    const status = { phase: 'Running', podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] }
    await client.resource(collectionOf('pods')).patch('q', { status }, { type: 'merge', subresource: 'status', namespace })
    await clock.advance('5s')
    const after = await slicesOf('portless')
    expect(after.map((slice) => [slice.metadata.name, slice.endpoints?.map((one) => one.addresses)])).toEqual([
      [empty?.metadata.name, [['10.0.0.2']]],
    ])
  })

  test('WL-EP-03, WL-EP-09, WL-EP-32: leaves out a Pod of an absent node, with an event, and has the time of the change', async () => {
    const { client } = server
    const labels = { app: 'lost' }
    const pod = { spec: { nodeName: 'absent', containers: [{ name: 'c', image: 'i' }] }, metadata: { name: 'p', namespace, labels } }
    await client.objects.create({ apiVersion: 'v1', kind: 'Pod', ...pod })
    const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] }
    await client.resource(collectionOf('pods')).patch('p', { status }, { type: 'merge', subresource: 'status', namespace })
    const created = await client.objects.create<ApiObject>({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'lost', namespace } },
      spec: { ...spec, selector: labels },
    })
    await clock.advance('5s')
    const [slice] = await slicesOf('lost')
    const ofService = await client.resource(endpoints).get('lost', { namespace })
    expect(slice?.endpoints ?? []).toEqual([])
    expect([slice?.metadata.annotations?.[changeTime], ofService.metadata.annotations?.[changeTime]]).toEqual(
      Array(2).fill(created.metadata.creationTimestamp),
    )
    const events = await client.resource<ApiObject & { readonly message: string }>(collectionOf('events')).list({ namespace })
    expect(events.items.map(({ message }) => message)).toContain(
      `Error updating Endpoint Slices for Service ${namespace}/lost: skipping Pod p for Service ${namespace}/lost: Node absent Not Found`,
    )
  })
})
