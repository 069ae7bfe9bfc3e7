import { anAllowingWebhook } from '../allowing-webhook.ts'
import { alternate, configMap, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection, loadHttp1 } from '../http1-load.ts'
import { withConnections, withOrch } from '../shared-server.ts'

const group = 'admissionregistration.orch.io'
const rounds = 3
const durationMs = 1500

/** Namespaces, each with another number of webhooks that the server calls one after the other for its ConfigMaps. */
const counts = [0, 1, 3]

async function register(connection: Connection, clientConfig: object): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await connection.send(bodyRequest('POST', path, body), true)
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.body}`)
  }
  for (const count of counts) {
    await post('/api/v1/namespaces', { metadata: { name: `hooked-${count}` } })
    if (count === 0) continue
    const webhooks = Array.from({ length: count }, (_, index) => ({
      name: `hook-${index}.example.com`,
      clientConfig,
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'orch.io/metadata.name': `hooked-${count}` } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    }))
    await post(`/apis/${group}/v1/mutatingwebhookconfigurations`, { metadata: { name: `hooks-${count}` }, webhooks })
  }
}

let serial = 0

function createIn(count: number): Buffer {
  const namespace = `hooked-${count}`
  const { metadata, ...rest } = configMap(`new-${serial++}`, 1000)
  return bodyRequest('POST', `/api/v1/namespaces/${namespace}/configmaps`, { ...rest, metadata: { ...(metadata as object), namespace } })
}

export const webhooksLine: Line = {
  name: 'webhooks',
  what: 'CREATE a 1 KB object in memory with one and three mutating webhooks on loopback, beside none; concurrency 32',
  async run() {
    const webhook = await anAllowingWebhook()
    const figures: (Figure & { label: string })[] = []
    try {
      await withOrch({ memory: true }, async (server) => {
        await withConnections(32, server.port, server, async (connections) => {
          await register(connections[0] as Connection, webhook.clientConfig)
          const spent = counts.map(() => ({ cpuMicros: 0, count: 0 }))
          const sides = counts.map((count, index) => async () => {
            const before = server.child.cpuMicros()
            const result = await loadHttp1(connections, () => createIn(count), { durationMs, expected: 201 })
            const own = spent[index] as { cpuMicros: number; count: number }
            own.cpuMicros += server.child.cpuMicros() - before
            own.count += result.count
            return result.perSecond
          })
          const best = (await alternate(rounds, sides)).map((results) => Math.max(...results))
          const [floor = 0] = best
          for (const [index, count] of counts.entries()) {
            if (count === 0) continue
            const value = best[index] as number
            const { cpuMicros, count: done } = spent[index] as { cpuMicros: number; count: number }
            const bounds = { ...(count === 1 ? { target: 0.25, goal: 0.4 } : { target: 0.2, goal: 0.3 }), better: 'more' } as const
            figures.push({ label: `${count}`, value, floor, unit: 'req/s', ratio: value / floor, ...bounds, cpuMicros: cpuMicros / done })
          }
        })
      })
    } finally {
      webhook.close()
    }
    return figures
  },
}
