import type { ApiObject } from '@orch/core/meta'
import { virtualClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../start/start.ts'

interface Any extends ApiObject {
  readonly [member: string]: unknown
}

const namespace = 'default'

async function aServer(serviceClusterIpRange: string) {
  const server = await start({ profile: 'kubernetes', nodes: 1, serviceClusterIpRange, clock: virtualClock(), seed: 7 })
  onTestFinished(() => server.stop())
  const settled = () => server.settled({ within: 60_000 })
  const resource = (plural: string, group = '', namespaced = true) =>
    server.client.resource<Any>({ group, version: 'v1', plural, namespaced })
  await settled()
  return { settled, nodes: resource('nodes', '', false), pods: resource('pods'), resource }
}

const aPod = (name: string, spec: object = {}): Any => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels: { app: 'web' } } },
  spec: { containers: [{ name: 'main', image: 'img:1' }], ...spec },
})

const aService = (rest: object = {}): Any => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace } },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...rest },
})

const ips = (...addresses: readonly string[]) => addresses.map((ip) => ({ ip }))

test('NODE-SIM-06, NODE-SIM-28, WL-EP-05: nodes and Pods of a cluster of two families have an address of each, and a Service has a slice of each', async () => {
  const { settled, nodes, pods, resource } = await aServer('10.96.0.0/16,fd00:10:96::/112')
  await resource('services').create(aService({ ipFamilyPolicy: 'RequireDualStack' }))
  await pods.create(aPod('inside'))
  await pods.create(aPod('outside', { hostNetwork: true }))
  await settled()
  expect(await nodes.get('node-1')).toMatchObject({
    spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24', 'fd00:10:244:1::/64'] },
    status: { addresses: [{ address: '10.250.0.1' }, { address: 'fd00:10:250::1' }, { type: 'Hostname', address: 'node-1' }] },
  })
  const ofNode = ips('10.250.0.1', 'fd00:10:250::1')
  const inside = ips('10.244.0.2', 'fd00:10:244:1::2')
  expect((await pods.get('inside', { namespace }))['status']).toMatchObject({ podIP: '10.244.0.2', podIPs: inside, hostIPs: ofNode })
  expect((await pods.get('outside', { namespace }))['status']).toMatchObject({ podIP: '10.250.0.1', podIPs: ofNode })
  const slices = (await resource('endpointslices', 'discovery.k8s.io').list({ labelSelector: 'kubernetes.io/service-name=web' })).items
  const addressesOf = (slice: Any) => (slice['endpoints'] as { addresses: string[] }[]).flatMap(({ addresses }) => addresses).sort()
  expect(Object.fromEntries(slices.map((slice) => [slice['addressType'], addressesOf(slice)]))).toEqual({
    IPv4: ['10.244.0.2', '10.250.0.1'],
    IPv6: ['fd00:10:244:1::2', 'fd00:10:250::1'],
  })
})

test('NODE-SIM-28: Pods of a cluster of IPv6 have IPv6 addresses alone, with hexadecimal numbers, and IPv6 addresses come first if IPv6 is the first family', async () => {
  const alone = await aServer('fd00:10:96::/112')
  for (let number = 2; number < 12; number += 1) await alone.pods.create(aPod(`web-${number}`, { nodeName: 'node-1' }))
  await alone.settled()
  const all = (await alone.pods.list()).items.map(({ status }) => (status as { podIPs: unknown }).podIPs)
  const numbers = ['2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b']
  expect(all).toHaveLength(10)
  expect(all).toEqual(expect.arrayContaining(numbers.map((number) => ips(`fd00:10:244:1::${number}`))))
  const both = await aServer('fd00:10:96::/112,10.96.0.0/16')
  await both.pods.create(aPod('web'))
  await both.settled()
  expect((await both.pods.get('web', { namespace }))['status']).toMatchObject({ podIPs: ips('fd00:10:244:1::2', '10.244.0.2') })
})

test('NODE-SIM-16, NODE-SIM-28: Pods of a Node that its client gives two ranges have an address of each', async () => {
  const { settled, nodes, pods } = await aServer('10.96.0.0/16')
  const podCIDRs = ['fd00:1:2:3::/64', '10.9.8.0/24']
  const metadata = { name: 'own', annotations: { 'simulation.orch.io/node': 'true' } }
  await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata, spec: { podCIDR: podCIDRs[0], podCIDRs } })
  await settled()
  await pods.create(aPod('web', { nodeName: 'own' }))
  await settled()
  expect((await pods.get('web', { namespace }))['status']).toMatchObject({
    podIP: 'fd00:1:2:3::2',
    podIPs: ips('fd00:1:2:3::2', '10.9.8.2'),
  })
  // No valid address has this front and a number.
  const podCIDR = '1:2:3:4:5:6:7::/112'
  await nodes.create({ apiVersion: 'v1', kind: 'Node', metadata: { ...metadata, name: 'short' }, spec: { podCIDR, podCIDRs: [podCIDR] } })
  await settled()
  await pods.create(aPod('other', { nodeName: 'short' }))
  await settled()
  expect((await pods.get('other', { namespace }))['status']).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/^10\.244\./) })
})
