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

const containers = ['web', 'log'].map((name) => ({ name, image: `registry.example/${name}:1`, ports: [{ containerPort: 8080 }] }))
const pods = '/api/v1/namespaces/default/pods'
const podBody = (spec: unknown): Buffer =>
  bodyRequest('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${serial++}` }, spec })
const configMapBody = (): Buffer => bodyRequest('POST', collection, configMap(`plain-${serial++}`, 1_000))

interface Round {
  readonly micros: number
  readonly perSecond: number
}

/** A server with these flags, and rounds of creates at it. */
async function withCreates<T>(
  body: () => Buffer,
  flags: readonly string[],
  use: (round: () => Promise<Round>, connection: Connection) => Promise<T>,
): Promise<T> {
  return await withOrch({ memory: true, flags }, (server) =>
    withConnections(32, server.port, server, async (connections) => {
      // The account that Pods have is made shortly after the start.
      while ((await (connections[0] as Connection).send(body())).status !== 201) await new Promise((resolve) => setTimeout(resolve, 50))
      // More is run with the plugins, which takes longer to be compiled.
      await loadHttp1(connections, body, { durationMs: 4000, expected: 201 })
      return await use(async () => {
        const before = server.child.cpuMicros()
        const { count, perSecond } = await loadHttp1(connections, body, { durationMs: 2000, expected: 201 })
        return { micros: (server.child.cpuMicros() - before) / count, perSecond }
      }, connections[0] as Connection)
    }),
  )
}

export const createPluginsLine: Line = {
  name: 'create-plugins',
  what: 'CREATE a Pod and a ConfigMap in memory, all default admission plugins on; floor: all of them off; concurrency 32',
  async run() {
    const figures: (Figure & { label: string })[] = []
    const left = await specAsLeft()
    // Plugins add an account, a volume with its token and tolerations to a Pod, half as much again: writing that costs too.
    figures.push({ label: 'Pod', ...(await comparePlugins(() => podBody({ containers }))) })
    figures.push({ label: 'Pod with all that they add', ...(await comparePlugins(() => podBody(left))) })
    figures.push({ label: 'ConfigMap', ...(await comparePlugins(configMapBody)) })
    return figures
  },
}

/** What the plugins make of the Pod. */
function specAsLeft(): Promise<unknown> {
  return withCreates(
    () => podBody({ containers }),
    [],
    async (_round, connection) => {
      const answer = await connection.send(podBody({ containers }), true)
      return (JSON.parse(String(answer.body)) as { spec: unknown }).spec
    },
  )
}

/** CPU of one create; the least of some rounds on both sides, as what else the machine does only adds. */
function comparePlugins(body: () => Buffer): Promise<Figure> {
  const off = [`--disable-admission-plugins=${podPlugins.join(',')}`]
  return withCreates(body, [], (on) =>
    withCreates(body, off, async (without) => {
      const [ours = [], others = []] = await alternate(5, [on, without])
      const value = Math.min(...ours.map(({ micros }) => micros))
      const floor = Math.min(...others.map(({ micros }) => micros))
      const fastest = (rounds: readonly Round[]) => Math.max(...rounds.map(({ perSecond }) => perSecond)).toFixed(0)
      const note = `µs of CPU; a fifth of a create is 1.25; ${fastest(ours)} a second, ${fastest(others)} with them off`
      return { value, floor, unit: 'µs', ratio: value / floor, target: 1.25, goal: 1.1, better: 'less', note }
    }),
  )
}
