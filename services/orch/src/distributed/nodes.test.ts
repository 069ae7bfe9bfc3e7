import type { ApiObject } from '@orch/core/meta'
import { freePorts } from '@orch/platform/backends'
import { createMemoryStore } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { readAdmission } from '../admission/settings.ts'
import { readStartSettings } from '../start/start-settings.ts'
import { openNodesReplica } from './nodes.ts'
import { apart, closing, gatewaysOver, world } from './replica-testing.ts'
import { openStorageReplica } from './storage.ts'

const within = { timeout: 90_000, interval: 20 }

/** A gateway over a storage that hosts watch, and the administrator's client. */
async function aGateway(nodesAddresses: readonly string[]) {
  const hosting = { store: createMemoryStore(), changeStream: undefined, watchHistoryMs: 60_000, hostsWatch: true }
  const { address } = await closing(openStorageReplica({ ...apart, ...hosting }, world))
  const admission = { kind: 'in-process', settings: readAdmission(readStartSettings({})) } as const
  return (await gatewaysOver({ storageAddresses: [address], watchAddresses: [address], admission, nodesAddresses }))()
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
    const options = {
      listen,
      configuration,
      servers: [],
      count: 2,
      serviceRanges: readStartSettings({}).serviceClusterIpRange,
      leaderElect: false,
    }
    const nodes = await openNodesReplica({ ...apart, ...options }, world)
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

test('a separate gateway keeps the default ServiceCIDR, with the condition Ready', { timeout: 120_000 }, async () => {
  const { client } = await aGateway([])
  const ranges = client.resource({ group: 'networking.orch.io', version: 'v1', plural: 'servicecidrs', namespaced: false })
  const [range] = (await ranges.list()).items
  expect(range).toMatchObject({ spec: { cidrs: ['10.0.0.0/24'] }, status: { conditions: [{ type: 'Ready', status: 'True' }] } })
  await ranges.delete(range?.metadata.name ?? '')
  const uid = async () => (await ranges.list()).items[0]?.metadata.uid ?? range?.metadata.uid
  await expect.poll(uid, within).not.toBe(range?.metadata.uid)
})
