import type { ApiObject } from '@orch/core/meta'
import { aConfigMap, clusterStarter, createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { start } from './start.ts'
import type { StartOptions } from './start-settings.ts'

const startCluster = clusterStarter({ embedded: start })
const inDefault = { namespace: 'default' }
const core = (plural: string) => ({ group: '', version: 'v1', plural, namespaced: true })

/** Waits until all work that the clock has started has ended. */
async function settled<T>(ask: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask()
    if (isDone(value)) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test('GATE-09: a limit does not divide a list without APIListChunking', async () => {
  const { client } = await startCluster({ mode: 'embedded', options: { version: '1.25', featureGates: ['APIListChunking=false'] } })
  const maps = client.resource(core('configmaps'))
  for (const name of ['a', 'b', 'c']) await maps.create(aConfigMap({ name }))
  const list = await maps.list({ ...inDefault, limit: 1 })
  expect(list.items).toHaveLength(3)
  expect(list.metadata.continue).toBeUndefined()
})

test('GATE-10: unknown fields are dropped silently without ServerSideFieldValidation', async () => {
  const object = { ...aConfigMap({ name: 'a' }), unknown: 1 }
  const on = await startCluster({ mode: 'embedded' })
  const off = await startCluster({ mode: 'embedded', options: { version: '1.25', featureGates: ['ServerSideFieldValidation=false'] } })
  const create = ({ client }: typeof on) => client.resource(core('configmaps')).create(object, { fieldValidation: 'Strict' })
  await expect(create(on)).rejects.toMatchObject({ code: 400 })
  expect(await create(off)).not.toHaveProperty('unknown')
})

test('RTC-01, FLAG-25: --runtime-config switches group versions', async () => {
  const { client } = await startCluster({
    mode: 'embedded',
    options: { version: '1.25', runtimeConfig: ['storage.orch.io/v1beta1=false'] },
  })
  expect((await client.discover('storage.orch.io', 'v1')).length).toBeGreaterThan(0)
  await expect(client.discover('storage.orch.io', 'v1beta1')).rejects.toMatchObject({ code: 404 })
})

test('a start with flags has the objects of its level and ranges, even after starts with other flags', async () => {
  const startWith = (...flags: string[]) => startCluster({ mode: 'embedded', options: { flags } })
  const [older, allowed, other] = [
    await startWith('--emulated-version=1.25', '--controllers=-*'),
    await startWith('--authorization-mode=AlwaysAllow'),
    await startWith('--service-cluster-ip-range=10.8.0.0/24', '--webhook-service-map=team/hook=127.0.0.1:1'),
  ]
  const isThere = async ({ client }: typeof older) =>
    (await client.discover('networking.orch.io', 'v1')).some(({ plural }) => plural === 'servicecidrs')
  expect([await isThere(older), await isThere(allowed)]).toEqual([false, true])
  const ranges = { group: 'networking.orch.io', version: 'v1', plural: 'servicecidrs', namespaced: false }
  expect(await other.client.resource(ranges).get('orch')).toMatchObject({ spec: { cidrs: ['10.8.0.0/24'] } })
  expect(await allowed.client.resource(ranges).get('orch')).toMatchObject({ spec: { cidrs: ['10.0.0.0/24'] } })
  expect(await other.client.resource(core('services')).get('orch', inDefault)).toMatchObject({ spec: { clusterIP: '10.8.0.1' } })
})

test('Services get addresses and ports from the ranges', async () => {
  const { client } = await startCluster({
    mode: 'embedded',
    options: { serviceClusterIpRange: '10.9.0.0/24', serviceNodePortRange: '31000-31000' },
  })
  const services = client.resource(core('services'))
  const aService = (name: string): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { type: 'NodePort', selector: { a: 'b' }, ports: [{ port: 80 }] },
  })
  expect(await services.get('orch', inDefault)).toMatchObject({ spec: { clusterIP: '10.9.0.1' } })
  expect(await services.create(aService('a'))).toMatchObject({
    spec: { clusterIP: expect.stringMatching(/^10\.9\.0\.\d+$/), ports: [{ port: 80, nodePort: 31000 }] },
  })
  await expect(services.create(aService('b'))).rejects.toMatchObject({ code: expect.any(Number) })
})

test('Events are kept for the time of --event-ttl', async () => {
  const clock = createFakeClock(Date.now())
  const { client } = await startCluster({ mode: 'embedded', options: { clock, eventTtlMs: 60_000 } })
  const events = client.resource(core('events'))
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' }
  await events.create({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e', namespace: 'default' },
    involvedObject,
    reason: 'R',
    message: 'M',
  })
  clock.advance(59_000)
  expect((await events.list(inDefault)).items).toHaveLength(1)
  clock.advance(61_000)
  expect(
    (
      await settled(
        () => events.list(inDefault),
        ({ items }) => items.length === 0,
      )
    ).items,
  ).toEqual([])
})

test('LIM-01, LIM-02: changes and pages are kept for the time of --watch-history', async () => {
  const clock = createFakeClock(Date.now())
  const { client } = await startCluster({ mode: 'embedded', options: { clock, watchHistoryMs: 60_000 } })
  const maps = client.resource(core('configmaps'))
  for (const name of ['a', 'b']) await maps.create(aConfigMap({ name }))
  const page = await maps.list({ ...inDefault, limit: 1 })
  await maps.create(aConfigMap({ name: 'c' }))
  const next = () => maps.list({ ...inDefault, limit: 1, continue: page.metadata.continue }).catch((error: { code: number }) => error.code)
  expect(await next()).toMatchObject({ kind: 'ConfigMapList' })
  clock.advance(150_000)
  expect(await settled(next, (answer) => answer === 410)).toBe(410)
})

test('services never change an object that they received from another service', async () => {
  const server = await startCluster({ mode: 'embedded', options: { freezesLinks: true } })
  const maps = server.client.resource(core('configmaps'))
  const events = await maps.watch({ ...inDefault, resourceVersion: '0' })
  await maps.create(aConfigMap({ name: 'a', labels: { x: 'y' } }))
  await maps.patch('a', { data: { x: '1' } }, { ...inDefault, type: 'merge' })
  expect((await maps.list({ ...inDefault, labelSelector: 'x=y', limit: 1 })).items).toHaveLength(1)
  await maps.update({ ...(await maps.get('a', inDefault)), data: { x: '2' } })
  await maps.delete('a', inDefault)
  for (const type of ['ADDED', 'MODIFIED', 'MODIFIED', 'DELETED']) expect((await events.next()).value).toMatchObject({ type })
  await expect(server.stop()).resolves.toBeUndefined()
})

test('invalid options are refused', async () => {
  await expect(start({ featureGates: ['Nothing=true'] })).rejects.toThrow('unknown feature gate Nothing')
  await expect(start({ controllers: ['nothing'] })).rejects.toThrow('unknown controller nothing')
  await expect(start({ serviceClusterIpRange: '10.0.0.0' })).rejects.toThrow(
    'serviceClusterIpRange: 10.0.0.0: must be a block of at least 8 addresses',
  )
})

test('values that the compiler would refuse are refused at run time too, with a sentence', async () => {
  const untyped = (options: object) => start(options as StartOptions)
  await expect(untyped({ profile: 'x' })).rejects.toThrow(/^profile: x: must be one of orch, kubernetes$/)
  await expect(untyped({ profile: 'kubernets' })).rejects.toThrow(/must be one of orch, kubernetes; did you mean kubernetes\?$/)
  await expect(untyped({ profil: 'orch' })).rejects.toThrow(/^start\(\): unknown option profil; did you mean profile\?$/)
  await expect(untyped({ securePort: 1 })).rejects.toThrow(/^start\(\): unknown option securePort$/)
})
