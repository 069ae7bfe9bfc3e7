import { alternate, configMap, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection, loadHttp1 } from '../http1-load.ts'
import { fill, withConnections, withOrch } from '../shared-server.ts'
import { compareWrites, writeInTurn } from './compare.ts'

const collection = '/api/v1/namespaces/default/configmaps'

let serial = 0
const createBody = (): Buffer => bodyRequest('POST', collection, configMap(`new-${serial++}`, 3000))

const creates = (connections: readonly Connection[]) => loadHttp1(connections, createBody, { durationMs: 2000, expected: 201 })

export const createLine: Line = {
  name: 'create',
  what: 'CREATE a 3 KB object, durable, concurrency 64, all defaults on',
  run: () => withOrch({}, async (server) => [{ ...(await compareWrites(server, creates, creates)), target: 0.2, goal: 0.35 }]),
}

export const updateLine: Line = {
  name: 'update',
  what: 'UPDATE of a 3 KB object, durable, concurrency 64',
  run: () =>
    withOrch({}, async (server) => {
      await fill(server, 64, 3000)
      const update = (index: number, count: number) => {
        const name = `bench-${String(index).padStart(6, '0')}`
        return bodyRequest('PUT', `${collection}/${name}`, configMap(name, 3000, { count: String(count) }))
      }
      const updates = (connections: readonly Connection[]) => writeInTurn(connections, 2000, update)
      return [{ ...(await compareWrites(server, updates, creates)), target: 0.15, goal: 0.3 }]
    }),
}

/** The plugins are on by default. Without them, admission does no work for Pods. */
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
const podBody = (spec: unknown): Buffer =>
  bodyRequest('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${serial++}` }, spec })

/** A Pod with two containers and only the required fields. */
const bareContainers = ['web', 'log'].map((name) => ({ name, image: `registry.example/${name}:1`, ports: [{ containerPort: 8080 }] }))

/** The same Pod in the usual form: about 3 KB with the server's defaults and owners, without the plugins' additions. */
const usualContainers = bareContainers.map((container) => ({
  ...container,
  env: ['LEVEL', 'REGION', 'ADDRESS'].map((name) => ({ name, value: `the ${name.toLowerCase()} of the service` })),
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  readinessProbe: { httpGet: { path: '/ready', port: 8080 } },
}))

/** The creates so far, and their CPU time. */
interface Spent {
  count: number
  micros: number
}

/** Starts a server with these flags. Each short round of creates adds to the CPU time. */
async function withCreates<T>(
  body: () => Buffer,
  flags: readonly string[],
  use: (round: () => Promise<unknown>, spent: Spent, connection: Connection) => Promise<T>,
): Promise<T> {
  return await withOrch({ flags }, (server) =>
    withConnections(64, server.port, server, async (connections) => {
      const [first] = connections as [Connection]
      // A controller makes the Pods' account shortly after the start.
      while ((await first.send(body())).status !== 201) await new Promise((resolve) => setTimeout(resolve, 50))
      // V8 compiles for 6 s; with the plugins, which have more code, for 10 s.
      await loadHttp1(connections, body, { durationMs: 15_000, expected: 201 })
      const spent: Spent = { count: 0, micros: 0 }
      const round = async () => {
        const before = server.child.cpuMicros()
        const { count } = await loadHttp1(connections, body, { durationMs: 100, expected: 201 })
        spent.micros += server.child.cpuMicros() - before
        spent.count += count
      }
      return await use(round, spent, first)
    }),
  )
}

export const createPluginsLine: Line = {
  name: 'create-plugins',
  what: 'CREATE durable, concurrency 64, all default admission plugins on; floor: all of them off',
  async run() {
    const figures: (Figure & { label: string })[] = []
    const left = await specAsLeft()
    figures.push({ label: 'ConfigMap of 3 KB', ...(await comparePlugins(createBody)) })
    figures.push({ label: 'Pod of 3 KB', ...(await comparePlugins(() => podBody({ containers: usualContainers }))) })
    // Plugins add an account, a token volume and tolerations to a Pod, which makes a small Pod half as large again. The longer write also costs time.
    figures.push({ label: 'bare Pod', ...(await comparePlugins(() => podBody({ containers: bareContainers }))) })
    figures.push({ label: 'bare Pod with all that they add', ...(await comparePlugins(() => podBody(left))) })
    return figures
  },
}

/** The spec of the bare Pod after the admission plugins. */
function specAsLeft(): Promise<unknown> {
  const body = () => podBody({ containers: bareContainers })
  return withCreates(body, [], async (_round, _spent, connection) => {
    const answer = await connection.send(body(), true)
    return (JSON.parse(String(answer.body)) as { spec: unknown }).spec
  })
}

/** CPU time of one create. The many rounds are short, so that other work on the machine slows both sides equally. */
function comparePlugins(body: () => Buffer): Promise<Figure> {
  const off = [`--disable-admission-plugins=${podPlugins.join(',')}`]
  return withCreates(body, [], (on, spent) =>
    withCreates(body, off, async (without, spentWithout) => {
      await alternate(100, [on, without])
      const [value, floor] = [spent, spentWithout].map(({ micros, count }) => micros / count) as [number, number]
      const note = 'µs of CPU; a fifth of a create is 1.25'
      return { value, floor, unit: 'µs', ratio: value / floor, target: 1.25, goal: 1.1, better: 'less', note }
    }),
  )
}
