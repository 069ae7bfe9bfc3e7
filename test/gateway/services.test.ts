import type { ApiObject } from '@orch/core'
import { type RunningServer, type StartOptions, start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'

interface ServiceSpec {
  readonly clusterIP?: string
  readonly clusterIPs?: string[]
  readonly ports?: { nodePort?: number; port: number }[]
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

test('KIND-GEN: a Service gets an address of the range, and its own one only', async () => {
  const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.9.0.0/28' }))
  const addresses = new Set<string>()
  for (let count = 0; count < 10; count++) addresses.add(specOf(await create(`s-${count}`)).clusterIP ?? '')
  expect(addresses.size).toBe(10)
  for (const address of addresses) expect(address).toMatch(/^10\.9\.0\.(?:[1-9]|1[0-4])$/)
})

test('KIND-GEN: an address that is taken is refused, and free again when its Service is gone', async () => {
  const { services, create } = servicesOf(await aServer())
  await create('a', { clusterIP: '10.0.0.77' })
  await expect(create('b', { clusterIP: '10.0.0.77' })).rejects.toMatchObject({
    reason: 'Invalid',
    message: expect.stringContaining('provided IP is already allocated'),
  })
  await services.delete('a', { namespace: 'default' })
  expect(specOf(await create('b', { clusterIP: '10.0.0.77' }))).toMatchObject({ clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] })
})

test('KIND-GEN: an address outside of the range is refused', async () => {
  const { create } = servicesOf(await aServer())
  await expect(create('a', { clusterIP: '192.168.1.1' })).rejects.toMatchObject({
    code: 422,
    message: expect.stringContaining('is not in the valid range'),
  })
})

test('KIND-GEN: a full range is told', async () => {
  const { create } = servicesOf(await aServer({ serviceClusterIpRange: '10.9.0.0/29' }))
  for (let count = 0; count < 5; count++) await create(`s-${count}`)
  await expect(create('one-more')).rejects.toMatchObject({ code: 500, message: expect.stringContaining('range is full') })
})

test('KIND-GEN: a headless Service has no address', async () => {
  const { create } = servicesOf(await aServer())
  expect(specOf(await create('a', { clusterIP: 'None' }))).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
})

test('KIND-GEN: an update that leaves out address and ports keeps them, and changes nothing', async () => {
  const { services, aService, create } = servicesOf(await aServer())
  const created = await create('a', { type: 'NodePort' })
  const updated = await services.update(aService('a', { type: 'NodePort' }))
  expect(updated.metadata.resourceVersion).toBe(created.metadata.resourceVersion)
  await expect(services.update(aService('a', { type: 'NodePort', clusterIP: '10.0.0.200' }))).rejects.toMatchObject({
    message: expect.stringContaining('may not change once set'),
  })
})

test('KIND-GEN: node ports come from their range, and one port is one Service’s', async () => {
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

test('DRY-11: a dry run takes no address', async () => {
  const server = await aServer()
  const { create } = servicesOf(server)
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'a' },
    spec: { clusterIP: '10.0.0.50', ports: [{ port: 80 }] },
  })
  const path = '/api/v1/namespaces/default/services?dryRun=All'
  const { status } = await server.client.transport.send({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body })
  expect(status).toBe(201)
  expect(specOf(await create('b', { clusterIP: '10.0.0.50' })).clusterIP).toBe('10.0.0.50')
})

test('KIND-GEN: a Service that is refused leaves no address behind', async () => {
  const { create } = servicesOf(await aServer())
  await create('a')
  await expect(create('a', { clusterIP: '10.0.0.60' })).rejects.toMatchObject({ reason: 'AlreadyExists' })
  expect(specOf(await create('b', { clusterIP: '10.0.0.60' })).clusterIP).toBe('10.0.0.60')
})
