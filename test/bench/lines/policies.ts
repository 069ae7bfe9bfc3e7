import { readFileSync } from 'node:fs'
import { anAllowingWebhook } from '../allowing-webhook.ts'
import { alternate, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection } from '../http1-load.ts'
import type { OrchServer } from '../orch-server.ts'
import { withConnections, withOrch } from '../shared-server.ts'

const group = 'admissionregistration.orch.io'
const collection = '/apis/apps/v1/namespaces/default/deployments'
/** The calls are the cost of webhooks, and a few creates show that cost. */
const creates = { plain: 1_000, policed: 1_000, hooked: 100 }
const warmUps = 12
const rounds = 15

interface Example {
  readonly name: string
  /** The policies as YAML. */
  readonly rules: string
  readonly rest: string
}

/** The ten policies of the documentation page. */
function examples(): readonly Example[] {
  const page = readFileSync(new URL('../../../docs/how-to/policies.md', import.meta.url), 'utf8')
  return [...page.matchAll(/```yaml\nname: (.*)\nrules: (.*)\n([\s\S]*?)```/g)].map(([, name = '', rules = '', rest = '']) => ({
    name,
    rules,
    rest,
  }))
}

const seesCreates = ({ rules }: Example) => rules.includes('deployments') && rules.includes('CREATE')

async function post(connection: Connection, path: string, body: unknown, type?: string): Promise<void> {
  const answer = await connection.send(bodyRequest('POST', path, body, type), true)
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.body}`)
}

async function asPolicies(connection: Connection): Promise<void> {
  const limits = { metadata: { name: 'limits' }, data: { maxReplicas: '10' } }
  await post(connection, '/api/v1/namespaces/default/configmaps', limits)
  for (const { name, rules, rest } of examples()) {
    const spec = rest.split('\n').map((line) => `  ${line}`)
    const policy = [`metadata: {name: ${name}}`, 'spec:', `  matchConstraints: {resourceRules: ${rules}}`, ...spec].join('\n')
    await post(connection, `/apis/${group}/v1/validatingadmissionpolicies`, policy, 'application/yaml')
    const paramRef = rest.includes('paramKind') ? { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } } : {}
    const binding = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'], ...paramRef } }
    await post(connection, `/apis/${group}/v1/validatingadmissionpolicybindings`, binding)
  }
}

async function asWebhooks(connection: Connection, clientConfig: object): Promise<void> {
  for (const { name, rules } of examples()) {
    const body = [
      `metadata: {name: ${name}}`,
      'webhooks:',
      `  - {name: ${name}.example.com, sideEffects: None, admissionReviewVersions: [v1], rules: ${rules}, clientConfig: ${JSON.stringify(clientConfig)}}`,
    ]
    await post(connection, `/apis/${group}/v1/validatingwebhookconfigurations`, body.join('\n'), 'application/yaml')
  }
}

let serial = 0

/** A Deployment that all ten policies allow. */
function create(): Buffer {
  const labels = { app: 'a', team: 'b' }
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '256Mi' } }
  const ports = [{ name: 'http', containerPort: 8080 }]
  const container = { name: 'c', image: 'registry.example.com/c:1.2.3', resources, ports, env: [{ name: 'A', value: 'b' }] }
  const template = { metadata: { labels }, spec: { containers: [container, { ...container, name: 'd' }] } }
  const spec = { replicas: 3, selector: { matchLabels: labels }, template }
  return bodyRequest('POST', collection, { metadata: { name: `d-${serial++}`, namespace: 'default', labels }, spec })
}

/** CPU time of the server per create of a round, in microseconds. */
async function round(server: OrchServer, connections: readonly Connection[], count: number): Promise<number> {
  const before = server.child.cpuMicros()
  let left = count
  const loop = async (connection: Connection) => {
    while (left-- > 0) {
      const { status, head } = await connection.send(create())
      if (status !== 201) throw new Error(`answered ${status}: ${head}`)
    }
  }
  await Promise.all(connections.map(loop))
  return (server.child.cpuMicros() - before) / count
}

export const policiesLine: Line = {
  name: 'policies',
  what: 'CREATE a Deployment in memory beside the ten policies of docs/how-to/policies.md, and beside as many webhooks with their rules; for each that is about the request',
  async run() {
    const webhook = await anAllowingWebhook()
    const with16 = <T>(use: (server: OrchServer, connections: Connection[]) => Promise<T>) =>
      withOrch({ memory: true }, (server) => withConnections(16, server.port, server, (connections) => use(server, connections)))
    try {
      return await with16((plain, ofPlain) =>
        with16((policed, ofPoliced) =>
          with16(async (hooked, ofHooked) => {
            await asPolicies(ofPoliced[0] as Connection)
            await asWebhooks(ofHooked[0] as Connection, webhook.clientConfig)
            const sides = [
              () => round(plain, ofPlain, creates.plain),
              () => round(policed, ofPoliced, creates.policed),
              () => round(hooked, ofHooked, creates.hooked),
            ]
            // V8 compiles code for several seconds.
            await alternate(warmUps, sides)
            const [without = 0, policies = 0, webhooks = 0] = (await alternate(rounds, sides)).map((costs) => Math.min(...costs))
            const count = examples().filter(seesCreates).length
            const perPolicy = (policies - without) / count
            const perWebhook = (webhooks - without) / count
            const note = `of ${count} that see creates; a create without: ${Math.round(without)} µs`
            const common = { unit: 'µs', better: 'less' } as const
            const figures: (Figure & { label: string })[] = [
              {
                label: 'each policy',
                value: perPolicy,
                floor: perWebhook,
                ratio: perPolicy,
                target: 30,
                goal: 15,
                ...common,
                cpuMicros: policies,
                note: `${note}; floor: the same as a webhook`,
              },
            ]
            return figures
          }),
        ),
      )
    } finally {
      webhook.close()
    }
  },
}
