import { alternate, configMap, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection, loadHttp1 } from '../http1-load.ts'
import type { Child } from '../process.ts'
import { fill, startFloor, withConnections, withOrch } from '../shared-server.ts'

const collection = '/api/v1/namespaces/default/configmaps'

let serial = 0
const createBody = (): Buffer => bodyRequest('POST', collection, configMap(`new-${serial++}`, 3000))

/** A round of the floor's; its CPU is added up, since a busy disk slows us and not the floor. */
async function floorRound(
  child: Child,
  load: () => Promise<{ perSecond: number; count: number }>,
  spent: { cpuMicros: number; count: number },
): Promise<number> {
  const before = child.cpuMicros()
  const { perSecond, count } = await load()
  spent.cpuMicros += child.cpuMicros() - before
  spent.count += count
  return perSecond
}

export const createLine: Line = {
  name: 'create',
  what: 'CREATE a 3 KB object, durable, concurrency 64, all defaults on',
  async run() {
    return await withOrch({}, async (server) => {
      const floor = await startFloor('post', server.folder)
      const figures: Figure[] = []
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor.port, server, async (theirs) => {
          const options = { durationMs: 2000, expected: 201 }
          let cpu = 0
          let count = 0
          const spent = { cpuMicros: 0, count: 0 }
          const [our = [], raw = []] = await alternate(4, [
            async () => {
              const before = server.child.cpuMicros()
              const result = await loadHttp1(ours, createBody, options)
              cpu += server.child.cpuMicros() - before
              count += result.count
              return result.perSecond
            },
            async () => await floorRound(floor.child, () => loadHttp1(theirs, createBody, options), spent),
          ])
          const value = Math.max(...our)
          const best = Math.max(...raw)
          figures.push({
            value,
            floor: best,
            unit: 'req/s',
            ratio: value / best,
            target: 0.2,
            goal: 0.35,
            better: 'more',
            cpuMicros: cpu / count,
            note: `${Math.round(spent.cpuMicros / spent.count)} µs of CPU at the floor`,
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}

/** Each connection updates an object of its own, so that no race is lost. */
async function updates(connections: readonly Connection[], durationMs: number): Promise<{ perSecond: number; count: number }> {
  const began = performance.now()
  let count = 0
  await Promise.all(
    connections.map(async (connection, index) => {
      const name = `bench-${String(index).padStart(6, '0')}`
      while (performance.now() - began < durationMs) {
        const object = configMap(name, 3000, { count: String(count) })
        const answer = await connection.send(bodyRequest('PUT', `${collection}/${name}`, object))
        if (answer.status !== 200) throw new Error(`update answered ${answer.status}`)
        count++
      }
    }),
  )
  return { perSecond: count / ((performance.now() - began) / 1000), count }
}

export const updateLine: Line = {
  name: 'update',
  what: 'UPDATE of a 3 KB object, durable, concurrency 64',
  async run() {
    return await withOrch({}, async (server) => {
      await fill(server, 64, 3000)
      const floor = await startFloor('post', server.folder)
      const figures: Figure[] = []
      await withConnections(64, server.port, server, async (ours) => {
        await withConnections(64, floor.port, server, async (theirs) => {
          let cpu = 0
          let count = 0
          const spent = { cpuMicros: 0, count: 0 }
          const [our = [], raw = []] = await alternate(4, [
            async () => {
              const before = server.child.cpuMicros()
              const result = await updates(ours, 2000)
              cpu += server.child.cpuMicros() - before
              count += result.count
              return result.perSecond
            },
            async () => await floorRound(floor.child, () => loadHttp1(theirs, createBody, { durationMs: 2000, expected: 201 }), spent),
          ])
          const value = Math.max(...our)
          const best = Math.max(...raw)
          figures.push({
            value,
            floor: best,
            unit: 'req/s',
            ratio: value / best,
            target: 0.15,
            goal: 0.3,
            better: 'more',
            cpuMicros: cpu / count,
            note: `${Math.round(spent.cpuMicros / spent.count)} µs of CPU at the floor`,
          })
        })
      })
      await floor.child.stop()
      return figures
    })
  },
}

/** On by default; with all of them off admission has nothing to say about Pods. */
const podPlugins = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'DefaultIngressClass',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
]

const pods = '/api/v1/namespaces/default/pods'
const podBody = (): Buffer => {
  const containers = ['web', 'log'].map((name) => ({ name, image: `registry.example/${name}:1`, ports: [{ containerPort: 8080 }] }))
  return bodyRequest('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${serial++}` }, spec: { containers } })
}

/** What a server with these flags creates in a second, and what a create costs it. */
async function createPods(flags: readonly string[], use: (round: () => Promise<number>, cpuMicros: () => number) => Promise<void>) {
  await withOrch({ memory: true, flags }, async (server) => {
    await withConnections(32, server.port, server, async (connections) => {
      // The account that Pods have is made shortly after the start.
      while ((await (connections[0] as Connection).send(podBody())).status !== 201) await new Promise((resolve) => setTimeout(resolve, 50))
      let cpu = 0
      let count = 0
      const round = async () => {
        const before = server.child.cpuMicros()
        const result = await loadHttp1(connections, podBody, { durationMs: 2000, expected: 201 })
        cpu += server.child.cpuMicros() - before
        count += result.count
        return result.perSecond
      }
      await use(round, () => cpu / count)
    })
  })
}

export const createPluginsLine: Line = {
  name: 'create-plugins',
  what: 'CREATE a Pod in memory, all default admission plugins on, beside all of them off; concurrency 32',
  async run() {
    const figures: Figure[] = []
    await createPods([], async (on, onCpuMicros) => {
      await createPods([`--disable-admission-plugins=${podPlugins.join(',')}`], async (off, offCpuMicros) => {
        const [ours = [], others = []] = await alternate(4, [on, off])
        const value = Math.max(...ours)
        const floor = Math.max(...others)
        const note = `${Math.round(offCpuMicros())} µs of CPU with them off`
        figures.push({
          value,
          floor,
          unit: 'req/s',
          ratio: value / floor,
          target: 0.8,
          goal: 0.9,
          better: 'more',
          cpuMicros: onCpuMicros(),
          note,
        })
      })
    })
    return figures
  },
}
