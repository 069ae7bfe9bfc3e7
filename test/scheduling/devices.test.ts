import type { ApiObject } from '@orch/core/meta'
import type { Pod } from '@orch/core/scheduling'
import { type RunningServer, start } from 'orch'
import { beforeAll, expect, test } from 'vitest'

const namespace = 'default'
let server: RunningServer
beforeAll(async () => {
  server = await start({ profile: 'kubernetes', nodes: 2, seed: 7 })
  await create('resource.k8s.io/v1', 'DeviceClass', { metadata: { name: 'gpu' }, spec: {} })
  return () => server.stop()
})

const create = (apiVersion: string, kind: string, rest: object) => server.client.objects.create({ apiVersion, kind, ...rest } as ApiObject)
const pods = () => server.client.resource<Pod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
const claims = () =>
  server.client.resource<ApiObject>({ group: 'resource.k8s.io', version: 'v1', plural: 'resourceclaims', namespaced: true })

function aClaim(name: string, deviceClassName = 'gpu') {
  const spec = { devices: { requests: [{ name: 'one', exactly: { deviceClassName } }] } }
  return create('resource.k8s.io/v1', 'ResourceClaim', { metadata: { name, namespace }, spec })
}

/** Schedules a Pod with this claim; returns its node, or the message of its condition. */
async function schedule(name: string, claim: object): Promise<string> {
  const spec = { containers: [{ name: 'main', image: 'i' }], resourceClaims: [{ name: 'device', ...claim }] }
  await create('v1', 'Pod', { metadata: { name, namespace }, spec })
  return placeOf(name)
}

/** The messages of a Pod's warnings with this reason. */
async function warningsOf(name: string, reason: string): Promise<string[]> {
  const events = server.client.resource<ApiObject & { message?: string }>({ group: '', version: 'v1', plural: 'events', namespaced: true })
  const { items } = await events.list({ namespace, fieldSelector: `involvedObject.name=${name},reason=${reason}` })
  return items.map(({ message = '' }) => message)
}

async function placeOf(name: string): Promise<string> {
  await server.settled({ within: 60_000 })
  const { spec, status } = await pods().get(name, { namespace })
  return spec.nodeName ?? status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''
}

test('a Pod with a missing claim waits without a message, and a Pod with an unknown class or no available devices has the message of kube-scheduler', async () => {
  await aClaim('odd', 'none')
  await aClaim('free')
  const explained = async (name: string) => (await server.scheduler.explain(`${namespace}/${name}`)).message
  expect(await schedule('missing', { resourceClaimName: 'lost' })).toBe('')
  expect(await explained('missing')).toContain('could not find ResourceClaim "default/lost"')
  expect(await schedule('unmade', { resourceClaimTemplateName: 'template' })).toBe('')
  expect(await explained('unmade')).toContain('pod "default/unmade": ResourceClaim not created yet')
  expect(await warningsOf('unmade', 'FailedResourceClaimCreation')).toEqual([
    'PodResourceClaim device: resource claim template "template": resourceclaimtemplate.resource.k8s.io "template" not found',
  ])
  expect(await schedule('odd', { resourceClaimName: 'odd' })).toContain('request one: device class none does not exist')
  expect(await schedule('free', { resourceClaimName: 'free' })).toContain('2 cannot allocate all claims')
  await aClaim('lost')
  expect(await placeOf('missing')).toContain('2 cannot allocate all claims')
})

test('a Pod with an allocated claim goes to the node of its devices, and reserves them', async () => {
  await aClaim('given')
  expect(await schedule('user', { resourceClaimName: 'given' })).toContain('cannot allocate all claims')
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-2'] }] }]
  const results = [{ request: 'one', driver: 'gpu.example.com', pool: 'pool', device: 'device-1' }]
  const allocation = { devices: { results }, nodeSelector: { nodeSelectorTerms } }
  await claims().patch('given', { status: { allocation } }, { type: 'merge', subresource: 'status', namespace })
  expect(await placeOf('user')).toBe('node-2')
  const { metadata } = await pods().get('user', { namespace })
  expect(await claims().get('given', { namespace })).toMatchObject({
    status: { reservedFor: [{ resource: 'pods', name: 'user', uid: metadata.uid }] },
  })
})

const template = (name: string, metadata: object = {}) =>
  create('resource.k8s.io/v1', 'ResourceClaimTemplate', {
    metadata: { name, namespace },
    spec: { metadata, spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpu' } }] } } },
  })

/** The claims that the controller created for a Pod, by their entries. */
async function madeFor(name: string): Promise<ApiObject[]> {
  await server.settled({ within: 60_000 })
  const { items } = await claims().list({ namespace })
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.name === name))
}

test('WL-SA-02: a Pod gets its claim from a template, also from a later one, and names the claim in its status', async () => {
  await schedule('early', { resourceClaimTemplateName: 'later' })
  expect(await madeFor('early')).toEqual([])
  await template('later', { labels: { a: 'b' }, annotations: { c: 'd' } })
  const [claim] = await madeFor('early')
  const { metadata, status } = await pods().get('early', { namespace })
  expect(claim?.metadata).toMatchObject({
    name: expect.stringMatching(/^early-device-[a-z0-9]{5}$/),
    labels: { a: 'b' },
    annotations: { c: 'd', 'resource.kubernetes.io/pod-claim-name': 'device' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'early', uid: metadata.uid, controller: true }],
  })
  expect(status.resourceClaimStatuses).toEqual([{ name: 'device', resourceClaimName: claim?.metadata.name }])
  expect(metadata.managedFields?.map(({ manager }) => manager)).toContain('ResourceClaimController')
})

test('WL-SA-02: a deleted claim is created again while its Pod waits', async () => {
  await template('again')
  await schedule('waiting', { resourceClaimTemplateName: 'again' })
  const [first] = await madeFor('waiting')
  await claims().delete(first?.metadata.name ?? '', { namespace })
  const [second] = await madeFor('waiting')
  expect(second?.metadata.uid).not.toBe(first?.metadata.uid)
  const { status } = await pods().get('waiting', { namespace })
  expect(status.resourceClaimStatuses).toEqual([{ name: 'device', resourceClaimName: second?.metadata.name }])
})

test('WL-SA-02: a long Pod name and a long entry name are both cut for the name of the claim', async () => {
  await template('long')
  const [name, entry] = ['p'.repeat(100), 'e'.repeat(60)]
  const spec = { containers: [{ name: 'main', image: 'i' }], resourceClaims: [{ name: entry, resourceClaimTemplateName: 'long' }] }
  await create('v1', 'Pod', { metadata: { name, namespace }, spec })
  const [claim] = await madeFor(name)
  expect(claim?.metadata.name).toMatch(/^p{35}-e{21}[a-z0-9]{5}$/)
})

test('WL-SA-02: a claim loses its allocation and its finalizer with its last Pod', async () => {
  await aClaim('shared')
  const allocation = { devices: { results: [{ request: 'one', driver: 'gpu.example.com', pool: 'pool', device: 'device-2' }] } }
  await claims().patch('shared', { metadata: { finalizers: ['resource.kubernetes.io/delete-protection'] } }, { type: 'merge', namespace })
  await claims().patch('shared', { status: { allocation } }, { type: 'merge', subresource: 'status', namespace })
  for (const name of ['user-1', 'user-2']) await schedule(name, { resourceClaimName: 'shared' })
  await pods().delete('user-1', { namespace })
  await server.settled({ within: 60_000 })
  expect(await claims().get('shared', { namespace })).toMatchObject({ status: { allocation, reservedFor: [{ name: 'user-2' }] } })
  await pods().delete('user-2', { namespace })
  await server.settled({ within: 60_000 })
  const freed = await claims().get('shared', { namespace })
  expect([freed.metadata.finalizers, freed['status']]).toEqual([undefined, {}])
})

test('WL-SA-02: a claim created for a Pod is deleted when the Pod has finished', async () => {
  await template('short')
  await schedule('ended', { resourceClaimTemplateName: 'short' })
  expect(await madeFor('ended')).toHaveLength(1)
  await pods().patch('ended', { status: { phase: 'Failed' } }, { type: 'merge', subresource: 'status', namespace })
  expect(await madeFor('ended')).toEqual([])
})
