import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import { createClient, createHttpsTransport, parseConfiguration, readText } from '@orch/client'
import { aConfigMap, aNamespace, clusterStarter, steadily, untimed } from '@orch/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { start } from './start.ts'
import type { StartOptions } from './start-settings.ts'

const startCluster = clusterStarter({ embedded: start })
const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const namespaces = { group: '', version: 'v1', plural: 'namespaces', namespaced: false }
const inDefault = { namespace: 'default' }

describe('a test server', () => {
  test('is ready with its client, and stops at the end of its block', async () => {
    let url = ''
    {
      await using server = await start()
      url = server.url
      const maps = server.client.resource(configMaps)
      const created = await maps.create(aConfigMap({ name: 'a', data: { x: '1' } }))
      expect(await maps.get('a', inDefault)).toEqual(created)
    }
    await expect(connect(url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('has a configuration file that any client can use', async () => {
    const { kubeconfig } = await startCluster({ mode: 'embedded' })
    const client = createClient(createHttpsTransport(await parseConfiguration(kubeconfig)))
    onTestFinished(() => client.close())
    expect(kubeconfig).toContain(`client-key-data: "${Buffer.from('-----BEGIN RSA PRIVATE KEY-----').toString('base64').slice(0, -2)}`)
    expect(await client.request({ method: 'GET', path: '/version' })).toMatchObject({ major: '1', minor: '37' })
  })

  test('runs beside others without sharing state', async () => {
    const [first, second] = await Promise.all([startCluster({ mode: 'embedded' }), startCluster({ mode: 'embedded' })])
    await first.client.resource(configMaps).create(aConfigMap({ name: 'a' }))
    await expect(second.client.resource(configMaps).get('a', inDefault)).rejects.toMatchObject({ reason: 'NotFound' })
    expect(first.url).not.toBe(second.url)
  })

  test('NAME-02, NAME-03: has the names of the profile', async () => {
    const orch = await startCluster({ mode: 'embedded' })
    const kubernetes = await startCluster({ mode: 'embedded', options: { profile: 'kubernetes' } })
    const namesIn = async ({ client }: typeof orch) => (await client.resource(namespaces).list()).items.map(({ metadata }) => metadata.name)
    expect(await namesIn(orch)).toEqual(['default', 'orch-node-lease', 'orch-public', 'orch-system'])
    expect(await namesIn(kubernetes)).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    expect((await orch.client.discover('storage.orch.io', 'v1')).map(({ plural }) => plural)).toContain('csinodes')
    expect((await kubernetes.client.discover('storage.k8s.io', 'v1')).map(({ plural }) => plural)).toContain('csinodes')
  })

  test('AUTHN-ANON-03, AUTHN-ANON-05, AUTHN-ANON-06, AUTHN-ANON-08: treats requests without credentials as anonymous, unless that is off or everything is allowed', async () => {
    const codeOf = async ({ url, kubeconfig }: { url: string; kubeconfig: string }) => {
      const { certificateAuthority } = await parseConfiguration(kubeconfig)
      const client = createClient(createHttpsTransport({ server: url, certificateAuthority: certificateAuthority ?? '' }))
      onTestFinished(() => client.close())
      return client
        .resource(namespaces)
        .list()
        .then(
          () => 200,
          (error: { code: number }) => error.code,
        )
    }
    const flags = ['--authorization-mode=AlwaysAllow']
    const cases: [StartOptions, number][] = [
      [{}, 403],
      [{ anonymousAuth: true }, 403],
      [{ anonymousAuth: false }, 401],
      [{ flags: ['--anonymous-auth=false'] }, 401],
      [{ flags }, 401],
      [{ flags: [...flags, '--anonymous-auth'] }, 200],
    ]
    for (const [options, code] of cases) {
      expect({ options, code: await codeOf(await startCluster({ mode: 'embedded', options })) }).toEqual({ options, code })
    }
  })
})

test('METRIC-13: metrics count the served requests and show the size of the store', async () => {
  const { client } = await startCluster({ mode: 'embedded' })
  await client.resource(namespaces).list()
  const text = await readText(await client.transport.send({ method: 'GET', path: '/metrics', headers: {} }))
  expect(text).toMatch(/^apiserver_request_total\{.*resource="namespaces".*\} [1-9]/m)
  expect(text).toMatch(/^etcd_db_total_size_in_bytes [1-9]/m)
})

describe('reset, snapshot and restore', () => {
  test('bring the state back with the same uids and newer versions', async () => {
    const server = await startCluster({ mode: 'embedded' })
    const maps = server.client.resource(configMaps)
    const before = await maps.create(aConfigMap({ name: 'a', data: { x: '1' } }))
    const moment = server.snapshot()
    await maps.patch('a', { data: { x: '2' } }, { ...inDefault, type: 'merge' })
    await maps.create(aConfigMap({ name: 'b' }))
    await server.restore(moment)
    const after = await maps.get('a', inDefault)
    expect(after).toMatchObject({ data: { x: '1' }, metadata: { uid: before.metadata.uid } })
    expect(Number(after.metadata.resourceVersion)).toBeGreaterThan(Number(before.metadata.resourceVersion))
    await expect(maps.get('b', inDefault)).rejects.toMatchObject({ code: 404 })
    await server.reset()
    expect((await maps.list(inDefault)).items).toEqual([])
  })

  test('WATCH-15, CHUNK-10: end open watches with 410, and older tokens are 410', async () => {
    const server = await startCluster({ mode: 'embedded' })
    const maps = server.client.resource(configMaps)
    for (const name of ['a', 'b']) await maps.create(aConfigMap({ name }))
    const page = await maps.list({ ...inDefault, limit: 1 })
    const events = await maps.watch({ ...inDefault, resourceVersion: page.metadata.resourceVersion })
    const next = expect(events.next()).rejects.toMatchObject({ code: 410 })
    await server.reset()
    await next
    await expect(maps.list({ ...inDefault, limit: 1, continue: page.metadata.continue })).rejects.toMatchObject({ code: 410 })
  })
})

describe('controllers', () => {
  const until = async <T>(ask: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> => {
    for (;;) {
      const value = await ask()
      if (isDone(value)) return value
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const isAbsent = (ask: () => Promise<unknown>) =>
    ask().then(
      () => false,
      (error: { code: number }) => error.code === 404,
    )

  test('delete a namespace with everything in it', async () => {
    const { client } = await startCluster({ mode: 'embedded' })
    await client.resource(namespaces).create(aNamespace({ name: 'a' }))
    await client.resource(configMaps).create(aConfigMap({ name: 'm', namespace: 'a' }))
    await client.resource(namespaces).delete('a')
    await until(
      () => isAbsent(() => client.resource(namespaces).get('a')),
      (isGone) => isGone,
    )
    await expect(client.resource(configMaps).get('m', { namespace: 'a' })).rejects.toMatchObject({ code: 404 })
  })

  test('keep a namespace whose contents wait for a finalizer, with a condition', async () => {
    const { client } = await startCluster({ mode: 'embedded' })
    await client.resource(namespaces).create(aNamespace({ name: 'a' }))
    await client.resource(configMaps).create(aConfigMap({ name: 'm', namespace: 'a', finalizers: ['example.com/hold'] }))
    await client.resource(namespaces).delete('a')
    type Conditions = { status?: { conditions?: { type: string; status: string; message: string }[] } }
    const live = await until(
      () => client.resource(namespaces).get('a') as Promise<Conditions>,
      ({ status }) => status?.conditions !== undefined,
    )
    expect(live.status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'NamespaceFinalizersRemaining',
        status: 'True',
        message: expect.stringContaining('example.com/hold in 1'),
      }),
    )
    await client.resource(configMaps).patch('m', { metadata: { finalizers: null } }, { namespace: 'a', type: 'merge' })
    await until(
      () => isAbsent(() => client.resource(namespaces).get('a')),
      (isGone) => isGone,
    )
  })

  test('restore deleted bootstrap objects', async () => {
    const { client } = await startCluster({ mode: 'embedded' })
    const services = client.resource({ group: '', version: 'v1', plural: 'services', namespaced: true })
    const before = await services.get('orch', inDefault)
    expect(before).toMatchObject({ spec: { clusterIP: '10.0.0.1', ports: [{ port: 443 }] } })
    await services.delete('orch', inDefault)
    const after = await until(
      () => services.get('orch', inDefault).catch(() => before),
      ({ metadata }) => metadata.uid !== before.metadata.uid,
    )
    expect(after).toMatchObject({ spec: { clusterIP: '10.0.0.1' } })
    const classes = await client
      .resource({ group: 'scheduling.orch.io', version: 'v1', plural: 'priorityclasses', namespaced: false })
      .list()
    expect(classes.items.map(({ metadata, value }) => [metadata.name, value])).toEqual([
      ['system-cluster-critical', 2000000000],
      ['system-node-critical', 2000001000],
    ])
  })

  test('FLAG-29: do nothing if they are switched off', async () => {
    const { client } = await startCluster({ mode: 'embedded', options: { controllers: ['*', '-namespace'] } })
    await client.resource(namespaces).create(aNamespace({ name: 'a' }))
    await client.resource(namespaces).delete('a')
    expect(await client.resource(namespaces).get('a')).toMatchObject({ status: { phase: 'Terminating' } })
  })
})

describe('stop', () => {
  test('with open watches leaves no handle, port or file behind, 40 times', { timeout: untimed }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cycles-'))
    const temporaryBefore = process.env['TMPDIR']
    process.env['TMPDIR'] = folder
    onTestFinished(() => {
      if (temporaryBefore === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = temporaryBefore
      rmSync(folder, { recursive: true })
    })
    for (let cycle = 0; cycle < 3; cycle++) await steadily(runCycle())
    const before = await openThings()
    for (let cycle = 0; cycle < 40; cycle++) await steadily(runCycle())
    await expect.poll(openThings).toEqual(before)
    expect(readdirSync(folder)).toEqual([])
  })

  test('leaves no reference to the server in memory after its client was used and watches were open', { timeout: untimed }, async () => {
    class Marked {
      readonly random = Math.random
    }
    for (let cycle = 0; cycle < 5; cycle++) {
      const marked = new Marked()
      await steadily(runCycle({ random: () => marked.random() }))
    }
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    // The last server's socket may still be closing.
    expect(queryObjects(Marked, { format: 'count' })).toBeLessThanOrEqual(1)
  })

  async function runCycle(options: StartOptions = {}) {
    const server = await start(options)
    const maps = server.client.resource(configMaps)
    const watches = await Promise.all([0, 1, 2].map(() => maps.watch({ resourceVersion: '0' })))
    const reads = watches.map((events) => events.next().catch(() => undefined))
    await maps.create(aConfigMap({ name: 'a' }))
    await Promise.all(reads)
    const ends = watches.map((events) => events.next().catch(() => undefined))
    await server.stop()
    await Promise.all(ends)
    await expect(connect(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  }

  /** Counts after one or two turns, because closed sockets report a little later. */
  async function openThings() {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    const resources = process.getActiveResourcesInfo().filter((name) => !['Timeout', 'Immediate'].includes(name))
    const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
    return { resources: resources.sort(), descriptors }
  }
})

function connect(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port) }, () => {
      socket.destroy()
      resolve()
    })
    socket.on('error', reject)
  })
}
