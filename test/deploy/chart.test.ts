import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadYaml } from '@kubernetes/client-node'
import { readSettings, type Settings, silentLog, systemClock } from '@orch/platform'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { openProbes } from '../../services/orch/src/distributed/run-service.ts'
import {
  admissionCommandSettings,
  controllersCommandSettings,
  gatewayCommandSettings,
  nodesCommandSettings,
  storageCommandSettings,
  watchCommandSettings,
} from '../../services/orch/src/distributed/settings.ts'
import { aDefinition } from '../definition.ts'
import { aKubectl, findKubectls, sharedServer } from '../e2e/kubectl.ts'
import { findProgram, quickStart, withoutPrograms } from '../programs.ts'
import { deployedRoles, deployFolder, type Manifest, startedBy } from './manifests.ts'

const settingsOf: Readonly<Record<string, Settings>> = {
  gateway: gatewayCommandSettings,
  storage: storageCommandSettings,
  watch: watchCommandSettings,
  admission: admissionCommandSettings,
  controllers: controllersCommandSettings,
  nodes: nodesCommandSettings,
}

const helm = findProgram('helm')
const kubectl = findKubectls().at(-1)
const chart = join(deployFolder, 'chart')
const openServer = sharedServer()
const folder = mkdtempSync(join(tmpdir(), 'orch-chart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const variants = [
  ['as it is', []],
  ['with monitoring and cert-manager', ['--set=monitoring.enabled=true,certificates.from=cert-manager']],
  ['with simulated nodes', ['--set=simulatedNodes=3,monitoring.enabled=true']],
  [
    'with fixed replicas and an image by digest and without NATS',
    ['--set=autoscaling.enabled=false,nats.servers=null,image.digest=sha256:0'],
  ],
] as const

interface Rendered {
  readonly text: string
  readonly manifests: readonly Manifest[]
}

/** Rendered manifests by flags, since several tests read the same variant. */
const rendered = new Map<readonly string[], Rendered>()

function render(flags: readonly string[]): Rendered {
  const known = rendered.get(flags)
  if (known !== undefined) return known
  const env = { ...quickStart(), HOME: folder, PATH: process.env['PATH'] ?? '' }
  const text = execFileSync(helm ?? '', ['template', 'orch', chart, '--namespace=orch', ...flags], { encoding: 'utf8', env })
  const documents = text.split(/^---$/m).filter((one) => /^kind:/m.test(one))
  const made = { text, manifests: documents.map((one) => loadYaml<Manifest>(one)) }
  rendered.set(flags, made)
  return made
}

/** Definitions of other projects' kinds; the test does not check their fields. */
const definitions = [
  ['monitoring.coreos.com', 'ServiceMonitor'],
  ['monitoring.coreos.com', 'PrometheusRule'],
  ['cert-manager.io', 'Certificate'],
].map(([group = '', kind = '']) => {
  const plural = `${kind.toLowerCase()}s`
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return aDefinition({ domain: 'k8s.io', group, plural, kind, schema })
})

describe.skipIf(helm === undefined)(`the chart${withoutPrograms('helm')}`, () => {
  test.each(variants)('%s starts each service with flags that its command has', (_, flags) => {
    const started = startedBy('chart', render(flags).manifests)
    const nodes = flags.some((flag) => flag.includes('simulatedNodes')) ? ['nodes'] : []
    expect(started.map(({ command }) => command).sort()).toEqual([...deployedRoles, ...nodes].sort())
    for (const { command, flags: given } of started)
      expect(() => readSettings(settingsOf[command] as Settings, { flags: given, env: {}, file: undefined })).not.toThrow()
  })

  test.each(variants)('%s has containers without root and with a read-only root, with probes and memory limits', (_, flags) => {
    const deployments = render(flags).manifests.filter(({ kind }) => kind === 'Deployment')
    for (const { spec, metadata } of deployments) {
      expect(spec?.template?.spec, metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
            resources: { requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } },
            startupProbe: expect.anything(),
            readinessProbe: expect.anything(),
            livenessProbe: expect.anything(),
          },
        ],
      })
    }
  })

  test('each ServiceMonitor names a port of its Service, which the network policy opens to the namespace of Prometheus', () => {
    const { manifests } = render(['--set=monitoring.enabled=true'])
    for (const role of deployedRoles) {
      const named = (kind: string) => manifests.find((one) => one.kind === kind && one.metadata.name === `orch-${role}`)
      const monitor = named('ServiceMonitor') as unknown as { spec: { endpoints: { port: string }[] } }
      const port = named('Service')?.spec?.ports?.find(({ name }) => name === monitor.spec.endpoints[0]?.port)?.port
      const policy = named('NetworkPolicy') as unknown as { spec: { ingress: { ports: { port: number }[]; _from?: object[] }[] } }
      const rule = policy.spec.ingress.find(({ ports }) => ports.some((one) => one.port === port))
      expect(rule, role).toBeDefined()
      const prometheus = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }]
      if (role !== 'gateway') expect(rule?._from).toEqual(prometheus)
    }
  })

  test.skipIf(kubectl === undefined).each(variants)(
    '%s is accepted by the server with strict validation',
    { timeout: 120_000 },
    async (name, flags) => {
      const { kubectl: run } = await aKubectl(kubectl as string, openServer)
      await run('create', 'namespace', 'orch')
      const kinds = join(folder, `kinds-${name}.json`)
      writeFileSync(kinds, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: definitions }))
      await run('apply', '--server-side', '--filename', kinds)
      const all = join(folder, `${name}.yaml`)
      const { text, manifests } = render(flags)
      writeFileSync(all, text)
      const lines = (await run('apply', '--server-side', '--validate=strict', '--filename', all)).trim().split('\n')
      expect(lines).toHaveLength(manifests.length)
      for (const line of lines) expect(line).toMatch(/serverside-applied$/)
    },
  )

  test('can be installed, upgraded, rolled back and uninstalled with helm on this server', { timeout: 120_000 }, async () => {
    const { kubectl: run, env } = await aKubectl(kubectl ?? 'kubectl', openServer)
    const release = (...words: string[]) => spawnHelm([...words, '--namespace=orch'], env)
    await release('install', 'orch', chart, '--create-namespace')
    await release('upgrade', 'orch', chart, '--set=services.gateway.minReplicas=3')
    const least = async () => (await run('get', 'hpa', 'orch-gateway', '--namespace=orch', '--output=jsonpath={.spec.minReplicas}')).trim()
    expect(await least()).toBe('3')
    await release('rollback', 'orch', '1')
    expect(await least()).toBe('2')
    await release('uninstall', 'orch')
    expect((await run('get', 'deployments', '--namespace=orch', '--output=name')).trim()).toBe('')
  })
})

/** `execFileSync` would block the server in this process, which helm calls. */
async function spawnHelm(words: readonly string[], env: Record<string, string>): Promise<void> {
  await promisify(execFile)(helm ?? '', words, { env, timeout: 60_000 })
}

const withoutOpenssl = withoutPrograms('openssl')

test.skipIf(withoutOpenssl !== '')(`metrics beyond loopback need the client certificate of the monitoring${withoutOpenssl}`, async () => {
  execFileSync('sh', [join(deployFolder, 'certificates.sh'), folder], { stdio: 'ignore' })
  const file = (name: string) => join(folder, name)
  const probes = await openProbes({
    address: { host: '0.0.0.0', port: 0 },
    tls: { certificateFile: file('storage.crt'), keyFile: file('storage.key'), authorityFile: file('ca.crt') },
    probed: () => ({ checks: [], metrics: undefined }),
    clock: systemClock,
    log: silentLog,
  })
  onTestFinished(() => probes.close())
  const port = Number(new URL(probes.url).port)
  const ask = (pair: { cert?: Buffer; key?: Buffer }) =>
    new Promise<number | string>((resolve) => {
      const options = { host: '127.0.0.1', port, path: '/livez', ca: readFileSync(file('ca.crt')), servername: 'orch-storage', ...pair }
      request(options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
        .on('error', () => resolve('refused'))
        .end()
    })
  expect(await ask({ cert: readFileSync(file('monitoring.crt')), key: readFileSync(file('monitoring.key')) })).toBe(200)
  expect(await ask({})).toBe('refused')
  expect(await ask({ cert: readFileSync(file('monitoring-client.crt')), key: readFileSync(file('monitoring-client.key')) })).toBe('refused')
})
