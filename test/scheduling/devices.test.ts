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

/** Binds or refuses a Pod with this claim: its node, or the message of its condition. */
async function schedule(name: string, claim: object): Promise<string> {
  const spec = { containers: [{ name: 'main', image: 'i' }], resourceClaims: [{ name: 'device', ...claim }] }
  await create('v1', 'Pod', { metadata: { name, namespace }, spec })
  return placeOf(name)
}

async function placeOf(name: string): Promise<string> {
  await server.settled({ within: 60_000 })
  const { spec, status } = await pods().get(name, { namespace })
  return spec.nodeName ?? status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''
}

test('a Pod whose claim is missing, has an unknown class, or is not allocated waits, with the sentence of kube-scheduler', async () => {
  await aClaim('odd', 'none')
  await aClaim('free')
  expect(await schedule('missing', { resourceClaimName: 'lost' })).toContain('could not find ResourceClaim "default/lost"')
  expect(await schedule('unmade', { resourceClaimTemplateName: 'template' })).toContain(
    'pod "default/unmade": ResourceClaim not created yet',
  )
  expect(await schedule('odd', { resourceClaimName: 'odd' })).toContain('request one: device class none does not exist')
  expect(await schedule('free', { resourceClaimName: 'free' })).toContain('2 cannot allocate all claims')
  await aClaim('lost')
  expect(await placeOf('missing')).toContain('2 cannot allocate all claims')
})

test('a Pod whose claim is allocated goes to the node of its devices, and reserves them', async () => {
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
