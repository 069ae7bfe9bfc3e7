import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { createClient, createHttpsTransport, loadConfiguration } from '@orch/client'
import { StatusError } from '@orch/core/meta'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { aConfigMap } from '@orch/testkit'
import { findBackend } from '@orch/testkit/backends'
import { aFolder } from '@orch/testkit/folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask } from '../http/ask.ts'
import { type Process, processes, withoutProcesses } from './processes.ts'
import { runRefused, runToEnd, type ServerProcess, startProcess } from './server-process.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const inDefault = { namespace: 'default' }

const missing = (await Promise.all([findBackend('etcd'), findBackend('nats-server')])).find(({ kind }) => kind === 'missing')
const noBackend = missing?.kind === 'missing' ? `[skipped: ${missing.reason}]` : ''

/** The child processes of a process, recursively. */
function descendants(pid: number, all = processes()): Process[] {
  return all.filter(({ parent }) => parent === pid).flatMap((child) => [child, ...descendants(child.pid, all)])
}

function alive(pids: readonly number[]): Process[] {
  return processes().filter(({ pid }) => pids.includes(pid))
}

/** The pause between two checks. Without it, the checks would take the processor from the work that they wait for. */
const aMoment = () => new Promise((resolve) => setTimeout(resolve, 20))

async function gone(pids: readonly number[]): Promise<void> {
  while (alive(pids).length > 0) {
    await aMoment()
  }
}

/** The URL of each gateway, from the start message. */
function gatewaysOf({ message }: ServerProcess): string[] {
  return [...message.matchAll(/^ {2}gateway-\d+ +(\S+)/gm)].map((found) => found[1] ?? '')
}

/** The readiness of the first gateway, requested without credentials. */
async function readyz({ url }: ServerProcess): Promise<boolean> {
  return (await ask(`${url}/readyz`, { rejectUnauthorized: false })).code === 200
}

async function clientsOf(server: ServerProcess) {
  const configuration = await loadConfiguration(`${server.dataDir}/admin.conf`)
  return gatewaysOf(server).map((url) => {
    const client = createClient(createHttpsTransport({ ...configuration, server: url }))
    onTestFinished(() => client.close())
    return client.resource(configMaps)
  })
}

/** Creates an object if it is absent. Repeats a request that the server refuses only temporarily. */
async function isThere(client: Awaited<ReturnType<typeof clientsOf>>[number], name: string): Promise<boolean> {
  try {
    await client.create(aConfigMap({ name }))
    return true
  } catch (error) {
    const { code } = error as { code?: number }
    if (code === 503 || code === 504) return false
    return code === 409
  }
}

/** Starts over the state of an earlier start with a given certificate, kills etcd and NATS, and ends all processes by two signals. */
async function startedAgain(dataDir: string, kept: unknown): Promise<void> {
  const root = await anAuthority('root')
  const { certificate, key } = await aCertificate({ issuer: root, commonName: 'leaf', use: 'server', dnsNames: ['api.example.com'] })
  const folder = aFolder()
  const at = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const given = [`--tls-cert-file=${at('a.crt', certificate)}`, `--tls-private-key-file=${at('a.key', key)}`]
  const few = ['--gateways=1', '--storages=1', '--watches=1', '--admissions=1']
  const server = await startProcess(['--distributed', ...few, '--shutdown-delay-duration=1h', ...given], { dataDir })
  const accounts = server.client.resource({ group: '', version: 'v1', plural: 'serviceaccounts', namespaced: true })
  const namespaces = server.client.resource({ group: '', version: 'v1', plural: 'namespaces', namespaced: false })
  await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'again' } })
  // A controller has made this object.
  await expect
    .poll(() => accounts.get('default', { namespace: 'again' }).catch((error: Error) => error.message), { timeout: 60_000 })
    .toMatchObject({ kind: 'ServiceAccount' })
  expect(readFileSync(join(server.dataDir, 'serving-ca.crt'), 'utf8')).toBe(certificate)

  const maps = server.client.resource(configMaps)
  expect(await maps.get('c', inDefault)).toEqual(kept)
  await maps.create(aConfigMap({ name: 'before' }))
  const backends = descendants(server.pid).filter(({ command }) => /main\.js backends /.test(command))
  expect(backends).toHaveLength(1)
  for (const { pid } of backends) process.kill(pid, 'SIGKILL')
  await gone(backends.map(({ pid }) => pid))
  const isThere = () =>
    maps.create(aConfigMap({ name: 'after' })).then(
      () => true,
      (error: unknown) => error instanceof StatusError && error.reason === 'AlreadyExists',
    )
  while (!(await isThere())) await aMoment()
  expect((await maps.list(inDefault)).items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['after', 'before']))

  const pids = descendants(server.pid).map(({ pid }) => pid)
  while (!(await readyz(server))) await aMoment()
  server.signal('SIGTERM')
  while (await readyz(server)) await aMoment()
  server.signal('SIGTERM')
  expect(await server.exited).toMatchObject({ code: 1 })
  await gone(pids)
  expect(alive(pids)).toEqual([])
}

const reason = `${noBackend}${withoutProcesses}`

describe.skipIf(reason !== '')(`CARD-23, CARD-24: services as processes ${reason}`, { timeout: 120_000 }, () => {
  test('show one state through two gateways, restart a killed service without loss, and all end when their parent is killed', async () => {
    const server = await startProcess(['--distributed', '--storages=1', '--watches=2', '--admissions=1'])
    const [first, second] = await clientsOf(server)
    const events = await second!.watch({ ...inDefault, resourceVersion: '0' })
    await first!.create(aConfigMap({ name: 'a', data: { x: '1' } }))
    expect(await second!.get('a', inDefault)).toMatchObject({ data: { x: '1' } })
    const seen: string[] = []
    const until = async (name: string) => {
      while (!seen.includes(name)) {
        const { value } = await events.next()
        if (value !== undefined && value.type !== 'BOOKMARK') seen.push(value.object.metadata.name ?? '')
      }
    }
    await until('a')
    const watches = descendants(server.pid).filter(({ command }) => /main\.js watch /.test(command))
    expect(watches).toHaveLength(2)
    for (const { pid } of watches) process.kill(pid, 'SIGKILL')
    await first!.create(aConfigMap({ name: 'b' }))
    await until('b')
    expect(seen.filter((name) => name === 'a' || name === 'b')).toEqual(['a', 'b'])
    const pids = descendants(server.pid).map(({ pid }) => pid)
    expect(pids.length).toBeGreaterThanOrEqual(8)
    server.signal('SIGKILL')
    await server.exited
    await gone(pids)
    expect(alive(pids)).toEqual([])
  })

  test('CARD-25, FLAG-05: host watch in storages and admission in gateways without NATS; a watch continues when a storage is killed; a later start with NATS and a given certificate has the state; killed etcd and NATS are found again; the first signal drains, and a second one ends all', async () => {
    const server = await startProcess(['--distributed', '--gateways=1', '--admissions=0'])
    const [client] = await clientsOf(server)
    const commands = descendants(server.pid).map(({ command }) => command)
    expect(commands.filter((command) => /nats-server|main\.js (watch|admission) /.test(command))).toEqual([])
    const events = await client!.watch({ ...inDefault, resourceVersion: '0' })
    const seen: string[] = []
    const until = async (name: string) => {
      while (!seen.includes(name)) {
        const { value } = await events.next()
        if (value !== undefined && value.type !== 'BOOKMARK') seen.push(value.object.metadata.name ?? '')
      }
    }
    await client!.create(aConfigMap({ name: 'a' }))
    await until('a')
    const storages = descendants(server.pid).filter(({ command }) => /main\.js storage /.test(command))
    expect(storages).toHaveLength(2)
    const names = ['b', 'c']
    for (const [index, { pid }] of storages.entries()) {
      // The clients use the watch processes one after the other: a watch at any process has moved once.
      process.kill(pid, 'SIGKILL')
      const name = names[index] ?? ''
      // The process that the test killed before may still be starting.
      while (!(await isThere(client!, name))) await aMoment()
      await until(name)
    }
    expect(seen.filter((name) => ['a', 'b', 'c'].includes(name))).toEqual(['a', 'b', 'c'])
    const kept = await client!.get('c', inDefault)
    expect(await server.stop()).toMatchObject({ code: 0 })
    await startedAgain(server.dataDir, kept)
  })

  test('all end at once if one cannot start, without the delay of a shutdown, and the last line has the reason', async () => {
    const taken = createServer()
    taken.listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    const few = ['--distributed', '--gateways=1', '--storages=1', '--admissions=0', '--shutdown-delay-duration=1h']
    const { code, error } = await runToEnd([...few, `--data-dir=${aFolder()}`, `--secure-port=${port}`])
    expect(code).toBe(1)
    expect(error).toMatch(/^storage-0 .* ready/m)
    expect(error).not.toMatch(/^storage-0 .* stopping/m)
    expect(error.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`^orch: gateway-0 ended before it was ready: port ${port} on 127\\.0\\.0\\.1 is in use .*--secure-port`),
    )
  })
})

test('flags without effect on a single process are refused', async () => {
  expect(await runRefused(['--memory', '--gateways=3'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('--gateways needs --distributed'),
  })
  expect(await runRefused(['--memory', '--distributed'])).toMatchObject({
    code: 2,
    error: expect.stringContaining('--memory with --distributed'),
  })
})
