import { createClient, createHttpsTransport } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { certificateMemory, readCertificates, silentLog, systemChance, systemClock } from '@orch/platform'
import { freePorts } from '@orch/platform/backends'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { everythingServed } from '../api/settings.ts'
import { keepSigningKey } from '../authentication/open.ts'
import { readGateway } from '../gateway/settings.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { openGatewayReplica } from './gateway.ts'
import { openNodesReplica } from './nodes.ts'
import type { Replica } from './replica.ts'
import { openStorageReplica } from './storage.ts'

const world = { clock: systemClock, chance: systemChance, log: silentLog, catalogue: catalogueOf(everythingServed('orch')) }
const apart = { trust: { tls: undefined, insecureTransport: false }, hasProcessMetrics: false, listen: '127.0.0.1:0' }
const within = { timeout: 90_000, interval: 20 }

async function closing<R extends Replica>(opened: Promise<R>): Promise<R> {
  const replica = await opened
  onTestFinished(() => replica.stop())
  return replica
}

/** A gateway over a storage that hosts watch, and the administrator's client. */
async function aGateway(nodesAddresses: readonly string[]) {
  const hosting = { store: createMemoryStore(), changeStream: undefined, watchHistoryMs: 60_000, hostsWatch: true }
  const { address } = await closing(openStorageReplica({ ...apart, ...hosting }, world))
  const files = certificateMemory()
  const { serving: pair, authority, admin } = await readCertificates({ files, product: 'a', names: ['127.0.0.1'], clock: systemClock })
  const settings = readStartSettings({})
  const own = { pair, ownSigningKey: keepSigningKey(files), ownClients: authority, advertiseAddress: '', nodesAddresses }
  const admission = { kind: 'in-process', settings: readAdmission(settings) } as const
  const addresses = { storageAddresses: [address], watchAddresses: [address] }
  const gateway = await closing(openGatewayReplica({ ...apart, ...readGateway(settings), ...addresses, ...own, admission }, world))
  await gateway.ready
  const configuration = {
    server: gateway.address,
    certificateAuthority: authority,
    clientCertificate: admin.certificate,
    clientKey: admin.key,
  }
  const client = createClient(createHttpsTransport(configuration))
  onTestFinished(() => client.close())
  return { client, configuration }
}

interface RunningPod extends ApiObject {
  readonly status: {
    readonly phase: string
    readonly containerStatuses?: readonly { readonly containerID?: string; readonly restartCount: number }[]
  }
}

test('CARD-23: separate nodes run Pods, serve their logs, and keep their containers after a restart', {
  timeout: 120_000,
}, async () => {
  const [port] = await freePorts(1)
  const listen = `127.0.0.1:${port}`
  const { client, configuration } = await aGateway([listen])
  const openNodes = async () => {
    const nodes = await openNodesReplica({ ...apart, listen, configuration, servers: [], count: 2, leaderElect: false }, world)
    await nodes.ready
    return nodes
  }
  const pods = client.resource<RunningPod>({ group: '', version: 'v1', plural: 'pods', namespaced: true })
  const aPod = (name: string) => {
    const spec = { nodeName: 'node-2', containers: [{ name: 'main', image: 'img:1' }] }
    const metadata = { name, namespace: 'default', annotations: { 'simulation.orch.io/logs': 'up' } }
    return pods.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as unknown as RunningPod)
  }
  const running = (name: string) =>
    expect.poll(async () => (await pods.get(name, { namespace: 'default' })).status.phase, within).toBe('Running')
  const logOf = async (name: string) => {
    const path = `/api/v1/namespaces/default/pods/${name}/log`
    const { status, body } = await client.transport.send({ method: 'GET', path, headers: {} })
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return `${status} ${Buffer.concat(chunks).toString()}`
  }
  const first = await openNodes()
  await aPod('before')
  await running('before')
  expect(await logOf('before')).toBe('200 up\n')
  const before = await pods.get('before', { namespace: 'default' })
  await first.stop()
  expect(await logOf('before')).toMatch(/^503 /)
  await aPod('between')
  const second = await openNodes()
  onTestFinished(() => second.stop())
  await running('between')
  await expect.poll(() => logOf('before'), within).toBe('200 up\n')
  const after = await pods.get('before', { namespace: 'default' })
  expect(after.status.containerStatuses).toEqual(before.status.containerStatuses)
})
