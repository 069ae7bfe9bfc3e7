import { refuse, start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { openNodeCluster } from './cluster.ts'

const allocating = ['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/22', '--service-cluster-ip-range=10.0.1.0/24']

test('WL-NODE-12, NODE-SIM-10: nodes get ranges without overlap with Services and other nodes, and an event when none is left', async () => {
  const { server, clock, createNode, deleteNode, node, events } = await openNodeCluster({
    version: '1.37',
    controllers: ['nodeipam'],
    flags: allocating,
  })
  onTestFinished(() => server.stop())
  const rangeOf = async (name: string) => (await node(name)).spec.podCIDRs
  await createNode('own', { spec: { podCIDR: '10.0.2.0/24', podCIDRs: ['10.0.2.0/24'] } })
  await createNode('a')
  await clock.advance('1s')
  await createNode('b')
  await clock.advance('1s')
  await createNode('c')
  await clock.advance('1s')
  expect([await rangeOf('a'), await rangeOf('b'), await rangeOf('c')]).toEqual([['10.0.0.0/24'], ['10.0.3.0/24'], undefined])
  expect((await node('a')).spec.podCIDR).toBe('10.0.0.0/24')
  expect(await events()).toEqual(['cidrAllocator Normal CIDRNotAvailable Node c status is now: CIDRNotAvailable'])
  await deleteNode('a')
  await clock.advance('1m')
  expect(await rangeOf('c')).toEqual(['10.0.0.0/24'])
})

test('WL-NODE-12, NODE-SIM-10: nodes get ranges without overlap with the second range of Services', async () => {
  const flags = ['--allocate-node-cidrs', '--cluster-cidr=fd00::/62', '--service-cluster-ip-range=10.0.0.0/24,fd00::/64']
  const { server, clock, createNode, node } = await openNodeCluster({ version: '1.37', controllers: ['nodeipam'], flags })
  onTestFinished(() => server.stop())
  await createNode('a')
  await clock.advance('1s')
  expect((await node('a')).spec.podCIDRs).toEqual(['fd00:0:0:1::/64'])
})

test('WL-NODE-12, WL-COMMON-07: a range whose write met a conflict is given again without an event', async () => {
  const { server, clock, createNode, node } = await openNodeCluster({ version: '1.37', controllers: ['nodeipam'], flags: allocating })
  onTestFinished(() => server.stop())
  const on = { user: 'system:serviceaccount:kube-system:node-controller', verb: 'patch', resource: 'nodes' }
  const fault = server.faults.add({ on, times: 1, effect: refuse(409, { always: true }) })
  await createNode('a')
  await clock.advance('1s')
  expect([fault.hits, (await node('a')).spec.podCIDRs]).toEqual([1, [expect.stringMatching(/^10\./)]])
})

test.each([
  [['--cluster-cidr=10.0.0.0/16'], '--cluster-cidr and --node-cidr-mask-size need --allocate-node-cidrs'],
  [['--allocate-node-cidrs'], '--cluster-cidr=: must be one range such as 10.244.0.0/16, or one of IPv4 and one of IPv6'],
  [['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], '--cluster-cidr=10.0.0.0/16,10.1.0.0/16: must be one range'],
  [['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/25'], "--cluster-cidr: a node's range of 10.0.0.0/25 has 25 to 32 bits, not 24"],
  [
    ['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16,fd00::/48', '--node-cidr-mask-size=20'],
    '--node-cidr-mask-size is for one --cluster-cidr',
  ],
])('WL-NODE-12: the flags %j are refused', async (flags, message) => {
  await expect(start({ controllers: ['nodeipam'], flags })).rejects.toThrow(message)
})

test('WL-NODE-12: range flags need their controller', async () => {
  await expect(start({ flags: ['--allocate-node-cidrs', '--cluster-cidr=10.0.0.0/16'] })).rejects.toThrow(
    '--allocate-node-cidrs needs nodeipam in --controllers',
  )
})
