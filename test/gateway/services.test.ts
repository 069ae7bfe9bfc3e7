import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, type StartOptions, start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'

interface ServiceSpec {
  readonly clusterIP?: string
  readonly clusterIPs?: string[]
  readonly ports?: { nodePort?: number; port: number }[]
  readonly healthCheckNodePort?: number
}

const specOf = (object: ApiObject) => object['spec'] as ServiceSpec

async function aServer(options: StartOptions = {}): Promise<RunningServer> {
  const server = await start({ controllers: [], ...options })
  onTestFinished(() => server.stop())
  return server
}

function servicesOf({ client }: RunningServer) {
  const services = client.resource({ group: '', version: 'v1', plural: 'services', namespaced: true })
  const aService = (name: string, spec: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { ports: [{ port: 80 }], ...spec },
  })
  return { services, aService, create: (name: string, spec: object = {}) => services.create(aService(name, spec)) }
}

test('KIND-GEN: a Service gets a unique address of the range', async () => {
  const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.9.0.0/28' }))
  const addresses = new Set<string>()
  for (let count = 0; count < 10; count++) addresses.add(specOf(await create(`s-${count}`)).clusterIP ?? '')
  expect(addresses.size).toBe(10)
  for (const address of addresses) expect(address).toMatch(/^10\.9\.0\.(?:[1-9]|1[0-4])$/)
})

test('KIND-GEN: a used address is refused, and can be reused when its Service is deleted', async () => {
  const { services, create } = servicesOf(await aServer())
  await create('a', { clusterIP: '10.0.0.7' })
  await expect(create('b', { clusterIP: '10.0.0.7' })).rejects.toMatchObject({
    reason: 'Invalid',
    message: expect.stringContaining('provided IP is already allocated'),
  })
  await services.delete('a', { namespace: 'default' })
  expect(specOf(await create('b', { clusterIP: '10.0.0.7' }))).toMatchObject({ clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7'] })
})

test('KIND-GEN: an address with leading zeros is the address without them', async () => {
  const { create } = servicesOf(await aServer({ featureGates: ['StrictIPCIDRValidation=false'] }))
  expect(specOf(await create('a', { clusterIP: '10.0.0.011' })).clusterIP).toBe('10.0.0.011')
  const isTaken = expect.stringContaining('provided IP is already allocated')
  await expect(create('b', { clusterIP: '10.0.0.11' })).rejects.toMatchObject({ message: isTaken })
})

test('KIND-GEN: an address outside of the range is refused', async () => {
  const { create } = servicesOf(await aServer())
  await expect(create('a', { clusterIP: '192.168.1.1' })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('the provided network does not match the current range'),
  })
})

test('KIND-GEN: a full range is reported', async () => {
  const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.9.0.0/29' }))
  for (let count = 0; count < 5; count++) await create(`s-${count}`)
  await expect(create('one-more')).rejects.toMatchObject({ code: 500, message: expect.stringContaining('range is full') })
})

test('KIND-GEN: the first sixteenth of the range, at least 16 addresses, is allocated last', async () => {
  const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.9.0.0/27' }))
  const given: number[] = []
  for (let count = 0; count < 29; count++) given.push(Number(specOf(await create(`s-${count}`)).clusterIP?.split('.')[3]))
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
  expect(given.slice(0, 14).toSorted((a, b) => a - b)).toEqual(upTo(17, 30))
  // The first Service is the server's.
  expect(given.slice(14)).toEqual(upTo(2, 16))
  await expect(create('one-more')).rejects.toMatchObject({ message: expect.stringContaining('range is full') })
})

test('KIND-GEN: the first 256 addresses of a wide range are allocated last, unless ServiceIPStaticSubrange is off', async () => {
  const addressWith = async (options: StartOptions) => {
    const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.8.0.0/16', random: () => 0, ...options }))
    return specOf(await create('a')).clusterIP
  }
  expect(await addressWith({})).toBe('10.8.1.1')
  expect(await addressWith({ serviceClusterIpRange: '10.8.0.0/21' })).toBe('10.8.0.129')
  expect(await addressWith({ version: '1.25', featureGates: ['ServiceIPStaticSubrange=false'] })).toBe('10.8.0.2')
})

test('TODAY-GATE-28: the first ports of the range of node ports are allocated last from 1.28 on', async () => {
  const portWith = async (options: StartOptions) => {
    const { create } = servicesOf(await aServer({ random: () => 0, ...options }))
    return specOf(await create('a', { type: 'NodePort' })).ports?.[0]?.nodePort
  }
  expect(await portWith({})).toBe(30086)
  expect(await portWith({ serviceNodePortRange: '31000-31016' })).toBe(31016)
  expect(await portWith({ serviceNodePortRange: '31000-31015' })).toBe(31000)
  expect(await portWith({ version: '1.28' })).toBe(30086)
  expect(await portWith({ version: '1.28', featureGates: ['ServiceNodePortStaticSubrange=false'] })).toBe(30000)
  expect(await portWith({ version: '1.27' })).toBe(30000)
})

test('KIND-GEN: a headless Service has no address', async () => {
  const { create } = servicesOf(await aServer())
  expect(specOf(await create('a', { clusterIP: 'None' }))).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
})

test('KIND-GEN: an update that omits address and ports keeps them, and changes nothing', async () => {
  const { services, aService, create } = servicesOf(await aServer())
  const created = await create('a', { type: 'NodePort' })
  const updated = await services.update(aService('a', { type: 'NodePort' }))
  expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
  await expect(services.update(aService('a', { type: 'NodePort', clusterIP: '10.0.0.12' }))).rejects.toMatchObject({
    message: expect.stringContaining('may not change once set'),
  })
})

test('KIND-GEN: a Service whose single address is cleared gets an external name, and an address again afterwards', async () => {
  const { services, create } = servicesOf(await aServer())
  const created = await create('a')
  const named = { ...created, spec: { ...specOf(created), clusterIP: '', type: 'ExternalName', externalName: 'db.example.com' } }
  const updated = await services.update(named)
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies']) expect(specOf(updated)).not.toHaveProperty(field)
  const again = await services.update({ ...updated, spec: { ...specOf(updated), type: 'ClusterIP', externalName: '' } })
  expect(specOf(again)).toMatchObject({ clusterIPs: [expect.any(String)], ipFamilies: ['IPv4'] })
})

test('KIND-GEN: node ports are in their range, and each belongs to one Service', async () => {
  const { create } = servicesOf(await aServer({ serviceNodePortRange: '31000-31001' }))
  const ports = [await create('a', { type: 'NodePort' }), await create('b', { type: 'NodePort' })].map(
    (service) => specOf(service).ports?.[0]?.nodePort,
  )
  expect(ports.toSorted()).toEqual([31000, 31001])
  await expect(create('c', { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] })).rejects.toMatchObject({
    message: expect.stringContaining('provided port is already allocated'),
  })
  await expect(create('d', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })).rejects.toMatchObject({
    message: expect.stringContaining('The range of valid ports is 31000-31001'),
  })
})

test('KIND-GEN: the network address and the broadcast address are not allocated', async () => {
  const v4 = servicesOf(await aServer())
  for (const clusterIP of ['10.0.0.0', '10.0.0.255'])
    await expect(v4.create('a', { clusterIP })).rejects.toMatchObject({
      message: expect.stringContaining('does not match the current range'),
    })
  expect(specOf(await v4.create('a', { clusterIP: '10.0.0.254' })).clusterIP).toBe('10.0.0.254')
  const v6 = servicesOf(await aServer({ serviceClusterIpRange: 'fd00::/112' }))
  await expect(v6.create('a', { clusterIP: 'fd00::' })).rejects.toMatchObject({
    message: expect.stringContaining('does not match the current range'),
  })
  await expect(v6.create('a', { clusterIP: 'fd00::1:0' })).rejects.toMatchObject({
    message: expect.stringContaining('the provided network does not match the current range'),
  })
  expect(specOf(await v6.create('a', { clusterIP: 'fd00::ffff' })).clusterIP).toBe('fd00::ffff')
})

test('KIND-GEN: an IPv6 address is equal in any spelling', async () => {
  const { services, create } = servicesOf(await aServer({ serviceClusterIpRange: 'fd00::/112' }))
  await create('a', { clusterIP: 'FD00:0::0005' })
  for (const clusterIP of ['fd00::5', 'fd00:0::5', 'FD00::5'])
    await expect(create('b', { clusterIP })).rejects.toMatchObject({ message: expect.stringContaining('already allocated') })
  await services.delete('a', { namespace: 'default' })
  expect(specOf(await create('b', { clusterIP: 'fd00::5' })).clusterIP).toBe('fd00::5')
})

test('DRY-11: a dry run allocates no address', async () => {
  const server = await aServer()
  const { create } = servicesOf(server)
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a' },
    spec: { clusterIP: '10.0.0.5', ports: [{ port: 80 }] },
  })
  const path = '/api/v1/namespaces/default/services?dryRun=All'
  const { status } = await server.client.transport.send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })
  expect(status).toBe(201)
  expect(specOf(await create('b', { clusterIP: '10.0.0.5' })).clusterIP).toBe('10.0.0.5')
})

test('DRY-11: ports of a dry run are distinct too', async () => {
  const server = await aServer({ serviceNodePortRange: '31000-31001', random: () => 0 })
  const { aService } = servicesOf(server)
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81 },
  ]
  const body = JSON.stringify(aService('a', { type: 'NodePort', ports }))
  const path = '/api/v1/namespaces/default/services?dryRun=All'
  const answer = await server.client.transport.send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  const { spec } = JSON.parse(Buffer.concat(chunks).toString()) as { spec: ServiceSpec }
  expect(spec.ports?.map(({ nodePort }) => nodePort)).toEqual([31000, 31001])
})

test('KIND-GEN: a refused Service allocates no address', async () => {
  const { create } = servicesOf(await aServer())
  await create('a')
  await expect(create('a', { clusterIP: '10.0.0.6' })).rejects.toMatchObject({ reason: 'AlreadyExists' })
  expect(specOf(await create('b', { clusterIP: '10.0.0.6' })).clusterIP).toBe('10.0.0.6')
})

test('KIND-GEN: a Service has the family of the range, and a request for another family is a 422', async () => {
  const { services, create } = servicesOf(await aServer())
  const selector = { app: 'a' }
  const single = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
  expect(specOf(await create('headless', { clusterIP: 'None', selector }))).toMatchObject({ ...single, clusterIPs: ['None'] })
  expect(specOf(await create('plain', { selector }))).toMatchObject(single)
  for (const [spec, field] of [
    [{ ipFamilyPolicy: 'RequireDualStack' }, 'spec.ipFamilyPolicy'],
    [{ ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]'],
    [{ clusterIP: 'fd00::1' }, 'spec.clusterIPs[0]'],
  ] as const) {
    await expect(create('refused', { ...spec, selector })).rejects.toMatchObject({ code: 422, message: expect.stringContaining(field) })
  }
  const change = { spec: { type: 'ExternalName', externalName: 'example.com' } }
  const named = specOf(await services.patch('plain', change, { type: 'merge', namespace: 'default' }))
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    expect(named).not.toHaveProperty(field)
  }
})

/** A load balancer that sends only to nodes with Pods of the Service. */
const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }
const merge = { namespace: 'default', type: 'merge' } as const

test('KIND-GEN: a health check node port is allocated if the Service needs it, and kept by updates that omit it', async () => {
  const { services, aService, create } = servicesOf(await aServer({ serviceNodePortRange: '31000-31003' }))
  expect(specOf(await create('plain', { type: 'LoadBalancer' }))).not.toHaveProperty('healthCheckNodePort')
  const given = specOf(await create('a', local))
  expect(given.healthCheckNodePort).toBeGreaterThanOrEqual(31000)
  expect(given.healthCheckNodePort).not.toBe(given.ports?.[0]?.nodePort)
  expect(specOf(await services.update(aService('a', local)))).toEqual(given)
  await expect(services.patch('a', { spec: { healthCheckNodePort: 1 + Number(given.healthCheckNodePort) } }, merge)).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('spec.healthCheckNodePort: Forbidden: field is immutable'),
  })
})

test('KIND-GEN: a health check node port belongs to one Service until that no longer needs it or is deleted', async () => {
  const { services, create } = servicesOf(await aServer({ serviceNodePortRange: '31000-31009' }))
  const wanted = { ...local, healthCheckNodePort: 31005 }
  expect(specOf(await create('a', wanted)).healthCheckNodePort).toBe(31005)
  const isTaken = expect.stringContaining('spec.healthCheckNodePort: Invalid value: 31005: provided port is already allocated')
  await expect(create('b', wanted)).rejects.toMatchObject({ code: 422, message: isTaken })
  const ports = [{ port: 80, nodePort: 31005 }]
  await expect(create('b', { type: 'NodePort', ports })).rejects.toMatchObject({ message: expect.stringContaining('already allocated') })
  await expect(create('b', { ...wanted, healthCheckNodePort: 80 })).rejects.toMatchObject({
    message: expect.stringContaining('The range of valid ports is 31000-31009'),
  })
  expect(specOf(await services.patch('a', { spec: { externalTrafficPolicy: 'Cluster' } }, merge))).not.toHaveProperty('healthCheckNodePort')
  expect(specOf(await create('b', wanted)).healthCheckNodePort).toBe(31005)
  expect(specOf(await services.patch('a', { spec: { externalTrafficPolicy: 'Local' } }, merge)).healthCheckNodePort).not.toBe(31005)
  await services.delete('b', { namespace: 'default' })
  expect(specOf(await create('c', wanted)).healthCheckNodePort).toBe(31005)
})

test('KIND-GEN: a health check node port differs from the other ports of the Service', async () => {
  const { services, create } = servicesOf(await aServer({ serviceNodePortRange: '31000-31009' }))
  const ports = [{ port: 80, nodePort: 31005 }]
  const isTaken = (field: string) => ({ message: expect.stringContaining(`${field}: Invalid value: 31005: provided port is already`) })
  await expect(create('a', { ...local, healthCheckNodePort: 31005, ports })).rejects.toMatchObject(isTaken('spec.healthCheckNodePort'))
  await create('a', { ...local, healthCheckNodePort: 31005 })
  await expect(services.patch('a', { spec: { ports } }, merge)).rejects.toMatchObject(isTaken('spec.ports[0].nodePort'))
})

test('KIND-GEN: allocateLoadBalancerNodePorts: false allocates only requested node ports', async () => {
  const { create } = servicesOf(await aServer())
  const ports = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81, nodePort: 30081 },
  ]
  const { ports: given } = specOf(await create('a', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports }))
  expect(given?.map(({ nodePort }) => nodePort)).toEqual([undefined, 30081])
})

test('KIND-GEN: a port with two protocols has one node port, which stays when the port number changes', async () => {
  const { services, create } = servicesOf(await aServer())
  const ports = [
    { name: 'a', port: 53, protocol: 'UDP' },
    { name: 'b', port: 53, protocol: 'TCP' },
  ]
  const given = specOf(await create('a', { type: 'NodePort', ports })).ports?.map(({ nodePort }) => nodePort)
  expect(given?.[0]).toBe(given?.[1])
  const single = specOf(await create('b', { type: 'NodePort', ports: [{ port: 80 }] })).ports?.[0]?.nodePort
  const moved = specOf(await services.patch('b', { spec: { ports: [{ port: 81 }] } }, merge))
  expect(moved.ports?.[0]).toMatchObject({ port: 81, nodePort: single })
})

/** A server of 1.37, which stores Service addresses as objects. */
async function aServerWithAddresses(options: StartOptions = {}) {
  const server = await aServer({ profile: 'kubernetes', flags: ['--emulated-version=1.37'], ...options })
  const group = { group: 'networking.k8s.io', version: 'v1', namespaced: false }
  const [addresses, ranges] = ['ipaddresses', 'servicecidrs'].map((plural) => server.client.resource({ ...group, plural }))
  return { ...servicesOf(server), server, addresses: addresses!, ranges: ranges! }
}

const anAddress = (name: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name },
  spec: { parentRef: { resource: 'services', namespace: 'default', name: 'other' } },
})

const aRange = (name: string, cidr: string) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs: [cidr] },
})

test('TODAY-SVC-04: the address of a Service is an IPAddress, which is created and deleted with the Service', async () => {
  const { services, create, addresses } = await aServerWithAddresses()
  await create('a', { clusterIP: '10.0.0.7' })
  expect(await addresses.get('10.0.0.7')).toMatchObject({
    metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv4', 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' } },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
  })
  const listed = await addresses.list({ labelSelector: 'ipaddress.kubernetes.io/ip-family=IPv4' })
  expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(['10.0.0.1', '10.0.0.7'])
  await services.delete('a', { namespace: 'default' })
  await expect(addresses.get('10.0.0.7')).rejects.toMatchObject({ reason: 'NotFound' })
})

test('TODAY-SVC-04: an address with an IPAddress of another owner is in use', async () => {
  const { create, addresses } = await aServerWithAddresses()
  await addresses.create(anAddress('10.0.0.8'))
  const message = expect.stringContaining('failed to allocate IP 10.0.0.8: provided IP is already allocated')
  await expect(create('a', { clusterIP: '10.0.0.8' })).rejects.toMatchObject({ code: 422, message })
  expect(await addresses.get('10.0.0.8')).toMatchObject({ spec: { parentRef: { name: 'other' } } })
})

test('TODAY-SVC-04, TODAY-CIDR-01: addresses of another ServiceCIDR may be requested, and are allocated when the server’s range is full', async () => {
  const { create, ranges } = await aServerWithAddresses({ serviceClusterIpRange: '10.9.0.0/29' })
  const outside = expect.stringContaining('the provided network does not match the current range')
  await expect(create('a', { clusterIP: '10.8.0.5' })).rejects.toMatchObject({ code: 422, message: outside })
  await ranges.create(aRange('more', '10.8.0.0/28'))
  expect(specOf(await create('a', { clusterIP: '10.8.0.5' })).clusterIP).toBe('10.8.0.5')
  await expect(create('b', { clusterIP: '10.8.0.0' })).rejects.toMatchObject({ code: 422, message: outside })
  const given: string[] = []
  for (let count = 0; count < 7; count++) given.push(specOf(await create(`s-${count}`)).clusterIP ?? '')
  expect(given.filter((address) => address.startsWith('10.9.0.')).length).toBe(5)
  expect(given.filter((address) => address.startsWith('10.8.0.')).length).toBe(2)
})

test('TODAY-SVC-04, TODAY-CIDR-01: a ServiceCIDR in deletion gives no new addresses, even with the server’s range', async () => {
  const { services, create, ranges } = await aServerWithAddresses({ serviceClusterIpRange: '10.9.0.0/29' })
  await create('held', { clusterIP: '10.9.0.5' })
  await ranges.create(aRange('more', '10.8.0.0/28'))
  await ranges.patch('kubernetes', { metadata: { finalizers: ['example.com/held'] } }, merge)
  await ranges.delete('kubernetes')
  expect(specOf(await create('any')).clusterIP).toMatch(/^10\.8\.0\./)
  const message = expect.stringContaining('the provided network does not match the current range')
  await expect(create('asked', { clusterIP: '10.9.0.4' })).rejects.toMatchObject({ code: 422, message })
  const kept = await services.patch('held', { spec: { ports: [{ port: 81 }] } }, merge)
  expect(specOf(kept).clusterIP).toBe('10.9.0.5')
  await ranges.create(aRange('again', '10.9.0.0/29'))
  expect(specOf(await create('asked', { clusterIP: '10.9.0.4' })).clusterIP).toBe('10.9.0.4')
})

test('TODAY-CIDR-01: the ServiceCIDR of the server exists and is ready', async () => {
  const { ranges } = await aServerWithAddresses({ serviceClusterIpRange: '10.9.0.0/24' })
  const ready = { type: 'Ready', status: 'True', reason: '', message: 'Kubernetes default Service CIDR is ready' }
  expect(await ranges.get('kubernetes')).toMatchObject({ spec: { cidrs: ['10.9.0.0/24'] }, status: { conditions: [ready] } })
})

test('TODAY-SVC-04: the addresses of both families of a Service are IPAddresses, and the second is freed with its family', async () => {
  const { services, create, addresses } = await aServerWithAddresses({ serviceClusterIpRange: '10.9.0.0/24,fd00::/112' })
  const [clusterIP, second] = ['10.9.0.7', 'fd00::7']
  const policy = { ipFamilyPolicy: 'RequireDualStack', clusterIP, clusterIPs: [clusterIP, second] }
  await create('a', policy)
  const held = async () => (await addresses.list({})).items.map(({ metadata }) => metadata.name)
  expect(await held()).toEqual(['10.9.0.1', clusterIP, second])
  expect(await addresses.get(second)).toMatchObject({
    metadata: { labels: { 'ipaddress.kubernetes.io/ip-family': 'IPv6' } },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
  })
  const isTaken = expect.stringContaining('failed to allocate IP fd00::7: provided IP is already allocated')
  await expect(create('b', { ...policy, clusterIP: '10.9.0.8', clusterIPs: ['10.9.0.8', second] })).rejects.toMatchObject({
    message: isTaken,
  })
  expect(await held()).toEqual(['10.9.0.1', clusterIP, second])
  await services.patch('a', { spec: { ipFamilyPolicy: 'SingleStack' } }, { type: 'merge', namespace: 'default' })
  expect(await held()).toEqual(['10.9.0.1', clusterIP])
  await services.patch('a', { spec: { ipFamilyPolicy: 'PreferDualStack' } }, { type: 'merge', namespace: 'default' })
  expect(await held()).toHaveLength(3)
  // An older client knows one address only.
  await services.patch('a', { spec: { clusterIPs: null } }, { type: 'merge', namespace: 'default' })
  expect(await held()).toHaveLength(3)
  await services.delete('a', { namespace: 'default' })
  expect(await held()).toEqual(['10.9.0.1'])
})

test('KIND-GEN: a full range of the second family leaves the first as it was', async () => {
  const { create, addresses } = await aServerWithAddresses({ serviceClusterIpRange: '10.9.0.0/24,fd00::/125' })
  const policy = { ipFamilyPolicy: 'RequireDualStack' }
  const given = new Set<string>()
  for (let count = 0; count < 6; count++)
    for (const address of specOf(await create(`s-${count}`, policy)).clusterIPs ?? []) given.add(address)
  expect(given.size).toBe(12)
  await expect(create('one-more', policy)).rejects.toMatchObject({ code: 500, message: expect.stringContaining('range is full') })
  expect((await addresses.list({})).items).toHaveLength(13)
  expect(specOf(await create('one-more', {})).clusterIPs).toHaveLength(1)
})

test('TODAY-CIDR-01: the ServiceCIDR of the server has the ranges of both families, and its own Service the first', async () => {
  const { ranges, services } = await aServerWithAddresses({ serviceClusterIpRange: 'fd00::/112,10.9.0.0/24' })
  expect(await ranges.get('kubernetes')).toMatchObject({ spec: { cidrs: ['fd00::/112', '10.9.0.0/24'] } })
  expect(specOf(await services.get('kubernetes', { namespace: 'default' })).clusterIPs).toEqual(['fd00::1'])
})
