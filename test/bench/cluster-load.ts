/**
 * Runs a cluster in this process, so that the process's CPU time is the CPU time of one operation. `node cluster-load.ts NAME [numbers]` sends one
 * message of
 * figures: seconds of CPU, milliseconds of time, bytes, and counts. Needs `--expose-gc` where memory is measured.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { type RunningServer, type StartOptions, start, virtualClock } from 'orch'

/** Seconds of CPU of this process, user and system. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const settledWithin = { within: 600_000 }
const quiet = ['*', '-serviceaccount', '-root-ca-cert-publisher']
const profile = 'kubernetes'

interface Deployment extends ApiObject {
  readonly metadata: ApiObject['metadata'] & { readonly name: string; readonly namespace: string }
  readonly spec: { readonly replicas: number }
  readonly status?: { readonly availableReplicas?: number }
}

function deployment(name: string, replicas: number): Deployment {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry/web:1' }] } }
  // Pods without a node never become available, and a rollout does not need to wait for them.
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: '25%' } }
  const spec = { replicas, strategy, selector: { matchLabels: labels }, template }
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'default' }, spec }
}

const address = (group: string, plural: string) => ({ group, version: 'v1', plural, namespaced: true })
const deploymentsOf = (client: Client) => client.resource<Deployment>(address('apps', 'deployments'))

/** Calls the function for all numbers below `count`, fifty at a time. */
async function forEachOf(count: number, call: (index: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += 50) {
    await Promise.all(Array.from({ length: Math.min(50, count - first) }, (_, index) => call(first + index)))
  }
}

async function revisionOf({ client }: RunningServer): Promise<number> {
  const list = await client.resource(address('', 'configmaps')).list({ namespace: 'default' })
  return Number(list.metadata.resourceVersion)
}

/** The cost of an operation until no work is left. */
async function costOf(server: RunningServer, operation: () => Promise<unknown>) {
  const [cpuBefore, revisionBefore] = [cpuSeconds(), await revisionOf(server)]
  await operation()
  await server.settled(settledWithin)
  return { cpu: cpuSeconds() - cpuBefore, writes: (await revisionOf(server)) - revisionBefore }
}

async function withServer<T>(options: StartOptions, use: (server: RunningServer) => Promise<T>): Promise<T> {
  const server = await start({ profile, ...options })
  try {
    await server.settled(settledWithin)
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** Bytes of heap after garbage collections, when the store has compressed the history. */
async function usedBytes(): Promise<number> {
  await sleep(3_000)
  for (let round = 0; round < 4; round++) {
    await sleep(200)
    globalThis.gc?.()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const workloads: StartOptions = { controllers: [...quiet, 'workloads'] }

/** The share of a core that this process uses without requests, after it has compiled its code and collected the garbage of its start. */
async function idleShare(durationMs: number): Promise<number> {
  await sleep(5_000)
  // V8 would collect it some seconds later, which takes as much CPU as ten idle seconds of 100 nodes.
  globalThis.gc?.()
  const [cpuBefore, before] = [cpuSeconds(), performance.now()]
  await sleep(durationMs)
  return ((cpuSeconds() - cpuBefore) / (performance.now() - before)) * 1000
}

/** Creates a Deployment, and resolves when all of its Pods are available. */
async function availableOf(client: Client, made: Deployment): Promise<void> {
  const collection = deploymentsOf(client)
  const { name, namespace } = made.metadata
  const { metadata } = await collection.create(made)
  const select = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion: metadata.resourceVersion }
  for await (const { object } of await collection.watch(select)) if (object.status?.availableReplicas === object.spec.replicas) return
}

const kinds = [address('apps', 'deployments'), address('apps', 'replicasets'), address('', 'pods'), address('', 'events')]

/** All objects that a Deployment produces, by resource. */
async function allOf({ client }: RunningServer) {
  return Promise.all(kinds.map(async (kind) => ({ kind, items: (await client.resource(kind).listAll({ namespace: 'default' })).items })))
}

/** The memory of a server with these objects and without controllers. */
async function aloneBytes(objects: Awaited<ReturnType<typeof allOf>>): Promise<number> {
  return withServer({ controllers: ['-*'] }, async ({ client }) => {
    const before = await usedBytes()
    for (const { kind, items } of objects) {
      const collection = client.resource(kind)
      await forEachOf(items.length, async (index) => {
        const { metadata, ...rest } = items[index] as ApiObject
        const { resourceVersion: _, uid: __, ...kept } = metadata
        const created = await collection.create({ ...rest, metadata: kept })
        if (rest.status === undefined) return
        await collection.update({ ...created, status: rest.status }, { subresource: 'status' })
      })
    }
    return (await usedBytes()) - before
  })
}

const operations = {
  /** Deployments without nodes: creation, memory without the objects' own, idle time, a new image for all, one large Deployment. */
  async deployments(count: number, replicas: number, large: number) {
    // Code that runs for the first time allocates memory.
    await withServer(workloads, (server) => costOf(server, () => deploymentsOf(server.client).create(deployment('first', replicas))))
    return withServer(workloads, async (server) => {
      const collection = deploymentsOf(server.client)
      const before = await usedBytes()
      const created = await costOf(server, () => forEachOf(count, (index) => collection.create(deployment(`web-${index}`, replicas))))
      const memory = (await usedBytes()) - before
      const alone = await aloneBytes(await allOf(server))
      const idle = await idleShare(20_000)
      const patch = { spec: { template: { spec: { containers: [{ name: 'main', image: 'registry/web:2' }] } } } }
      const patchOf = (index: number) => collection.patch(`web-${index}`, patch, { type: 'strategic', namespace: 'default' })
      const rollout = await costOf(server, () => forEachOf(count, patchOf))
      const one = await costOf(server, () => collection.create(deployment('large', large)))
      return { created, rollout, one, idle, memory, alone }
    })
  },
  /** Milliseconds until a server has started, with and without nodes, and until a Deployment is available on the nodes. */
  async nodeStart(count: number) {
    const [plain, withNodes, available]: [number[], number[], number[]] = [[], [], []]
    for (let round = 0; round < 20; round++) {
      let began = performance.now()
      const without = await start({ profile })
      plain.push(performance.now() - began)
      await without.stop()
      began = performance.now()
      const server = await start({ profile, nodes: count })
      withNodes.push(performance.now() - began)
      began = performance.now()
      await availableOf(server.client, deployment('web', 3))
      available.push(performance.now() - began)
      await server.stop()
    }
    // The first rounds compile the code.
    return { plain: plain.slice(8), withNodes: withNodes.slice(8), available: available.slice(8) }
  },
  /** Runs a Deployment on simulated nodes until its Pods are available and no work is left. */
  nodeRollout: (nodes: number, pods: number) =>
    withServer({ nodes }, async (server) => costOf(server, () => availableOf(server.client, deployment('web', pods)))),
  /** The share of a core that idle nodes use. */
  nodeIdle: (nodes: number) => withServer({ nodes }, async () => ({ idle: await idleShare(20_000) })),
  /** A day of a virtual clock while Pods run. */
  virtualDay(nodes: number, pods: number) {
    const clock = virtualClock({ start: new Date('2026-01-01T00:00:00Z') })
    return withServer({ nodes, clock }, async (server) => {
      await deploymentsOf(server.client).create(deployment('web', pods))
      await clock.advance('1m')
      return costOf(server, () => clock.advance('24h'))
    })
  },
}

const [, , name = '', ...numbers] = process.argv
const operation = Object.entries(operations).find(([known]) => known === name)?.[1] as
  | ((...counts: number[]) => Promise<object>)
  | undefined
if (operation === undefined) throw new Error(`no operation is called ${name}; there are ${Object.keys(operations).join(', ')}`)
const figures = await operation(...numbers.map(Number))
if (process.send === undefined) process.stdout.write(`${JSON.stringify(figures)}\n`)
else process.send(figures, () => process.exit())
