import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadAllYaml, loadYaml } from '@kubernetes/client-node'
import { serviceRoles } from '@orch/core/contracts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findKubectls } from '../e2e/kubectl.ts'
import { withoutPrograms } from '../programs.ts'
import { deployedRoles, deployFolder } from './manifests.ts'

/** The members of any manifest that the tests read. */
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly spec: {
    readonly replicas?: number
    readonly minReplicas?: number
    readonly scaleTargetRef?: { readonly name: string }
    readonly selector?: { readonly matchLabels?: Labels }
    readonly podSelector?: Selector
    /** The YAML reader writes a line before `from`, a word of the language. */
    readonly ingress?: readonly { readonly ports: readonly Port[]; readonly _from?: readonly { readonly podSelector: Selector }[] }[]
    readonly egress?: readonly { readonly ports: readonly Port[] }[]
    readonly policyTypes?: readonly string[]
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: Pod }
  }
}
type Labels = Readonly<Record<string, string>>
interface Port {
  readonly protocol: string
  readonly port: number
}
interface Selector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
}
interface Pod {
  readonly automountServiceAccountToken: boolean
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: unknown
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: unknown }[]
}
interface Container {
  readonly args: readonly string[]
  readonly command?: readonly string[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: unknown
  readonly resources: { readonly requests: Labels }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly startupProbe?: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
}
interface Probe {
  readonly exec?: { readonly command: readonly string[] }
  readonly httpGet?: { readonly path: string; readonly port: string }
}

const kubectl = findKubectls().at(-1)
const overlays = ['small', 'ha', 'external']
const rendered = kubectl === undefined ? [] : overlays.map((overlay) => ({ overlay, manifests: render(kubectl, overlay) }))
const skipReason = withoutPrograms('kubectl')

function render(path: string, overlay: string): Manifest[] {
  const text = execFileSync(path, ['kustomize', join(deployFolder, 'kustomize/overlays', overlay)], { encoding: 'utf8' })
  return loadAllYaml(text) as Manifest[]
}

const podsOf = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ metadata, spec }) => (spec?.template === undefined ? [] : [{ name: metadata.name, ...spec.template }]))
const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((one) => one.kind === kind)

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const hasAll = Object.entries(matchLabels).every(([key, value]) => labels[key] === value)
  return hasAll && matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
}

/** True if the policies allow Pods with these labels to connect to other Pods at a port. */
function mayReach(manifests: readonly Manifest[], from: Labels, to: Labels, port: number): boolean {
  const policies = ofKind(manifests, 'NetworkPolicy').map(({ spec }) => spec)
  const hasPort = (ports: readonly Port[]) => ports.some((one) => one.port === port && one.protocol === 'TCP')
  const leaving = policies.filter((one) => one.policyTypes?.includes('Egress') && selects(one.podSelector ?? {}, from))
  const arriving = policies.filter((one) => one.policyTypes?.includes('Ingress') && selects(one.podSelector ?? {}, to))
  const leaves = leaving.length === 0 || leaving.some(({ egress = [] }) => egress.some(({ ports }) => hasPort(ports)))
  const arrives = arriving.some(({ ingress = [] }) =>
    ingress.some((rule) => hasPort(rule.ports) && (rule._from?.some(({ podSelector }) => selects(podSelector, from)) ?? true)),
  )
  return leaves && arrives
}

describe.skipIf(kubectl === undefined)(`the kustomizations${skipReason}`, () => {
  test.each(rendered)('containers in $overlay run without root, with a read-only root and no needless capability', ({ manifests }) => {
    const pods = podsOf(manifests)
    expect(pods.length).toBeGreaterThanOrEqual(deployedRoles.length)
    for (const { name, spec } of pods) {
      expect(spec.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(spec.automountServiceAccountToken, name).toBe(false)
      for (const container of spec.containers) {
        expect(container.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(Object.keys(container.resources.requests).sort(), name).toEqual(['cpu', 'memory'])
      }
    }
  })

  test.each(rendered)('each pod in $overlay may write to /tmp, and has a longer grace period than its own shutdown', ({ manifests }) => {
    for (const { metadata, spec } of ofKind(manifests, 'Deployment')) {
      const pod = spec.template?.spec as Pod
      const [container] = pod.containers
      const mount = container?.volumeMounts.find(({ mountPath }) => mountPath === '/tmp')
      expect(pod.volumes.find(({ name }) => name === mount?.name)?.emptyDir, metadata.name).toBeDefined()
      const delay = container?.args.flatMap((flag) => /^--shutdown-delay-duration=(\d+)s$/.exec(flag)?.[1] ?? []) ?? []
      expect(pod.terminationGracePeriodSeconds, metadata.name).toBeGreaterThanOrEqual(Number(delay[0] ?? 0) + 20)
    }
  })

  test.each(rendered)('probes in $overlay use the health port of each process', ({ manifests }) => {
    for (const { name, spec } of podsOf(manifests)) {
      const [container] = spec.containers
      const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe].filter((one) => one !== undefined)
      expect(probes.length, name).toBeGreaterThanOrEqual(2)
      const answersAt = container?.args.find((flag) => flag.startsWith('--probe-address='))?.split('=')[1]
      const ports = container?.ports?.map((port) => port.name) ?? []
      for (const { exec, httpGet } of probes) {
        if (exec !== undefined)
          expect(exec.command[2], name).toMatch(new RegExp(`^http://${answersAt?.replaceAll('.', '\\.')}/(livez|readyz)$`))
        else expect(ports, name).toContain(httpGet?.port)
      }
      expect(JSON.stringify(container?.readinessProbe), name).not.toBe(JSON.stringify(container?.livenessProbe))
    }
  })

  test.each(rendered)('the network policies in $overlay allow every configured address, and block others', ({ manifests }) => {
    const labels = new Map(podsOf(manifests).map(({ name, metadata }) => [name, metadata.labels]))
    let allowed = 0
    for (const { name, metadata, spec } of podsOf(manifests)) {
      // etcd never connects to the URL that it advertises to clients.
      const flags = spec.containers.flatMap(({ args }) => args).filter((flag) => !flag.startsWith('--advertise-'))
      const text = flags.join(' ')
      for (const [, callee = '', port] of text.matchAll(/(?:^|[/=,.])(orch-[a-z]+)\.orch\.svc\.cluster\.local:(\d+)/g)) {
        expect(mayReach(manifests, metadata.labels, labels.get(callee) ?? {}, Number(port)), `${name} to ${callee}:${port}`).toBe(true)
        allowed += 1
      }
    }
    expect(allowed).toBeGreaterThanOrEqual(4)
    const of = (name: string) => labels.get(name) ?? {}
    expect(mayReach(manifests, of('orch-controllers'), of('orch-gateway'), 6443)).toBe(true)
    expect(mayReach(manifests, { app: 'stranger' }, of('orch-gateway'), 6443)).toBe(true)
    for (const [callee, port] of [
      ['orch-storage', 7100],
      ['orch-watch', 7200],
      ['orch-admission', 7300],
    ] as const) {
      expect(mayReach(manifests, { app: 'stranger' }, of(callee), port), callee).toBe(false)
      expect(mayReach(manifests, of('orch-controllers'), of(callee), port), callee).toBe(false)
    }
    for (const backend of ['orch-etcd', 'orch-nats'].filter((name) => labels.has(name)))
      for (const port of [2379, 4222]) expect(mayReach(manifests, of('orch-gateway'), of(backend), port), backend).toBe(false)
  })

  test.each(rendered)('the number of replicas in $overlay is set once: by an autoscaler, or by the Deployment', ({ manifests }) => {
    const scaled = ofKind(manifests, 'HorizontalPodAutoscaler').map(({ spec }) => spec.scaleTargetRef?.name)
    expect(scaled.sort()).toEqual(['orch-admission', 'orch-gateway', 'orch-storage', 'orch-watch'])
    for (const { metadata, spec } of ofKind(manifests, 'Deployment'))
      expect(spec.replicas === undefined, metadata.name).toBe(scaled.includes(metadata.name))
  })

  test('each part in ha has a disruption budget, and a spare replica', () => {
    const { manifests } = rendered.find(({ overlay }) => overlay === 'ha') ?? { manifests: [] }
    const budgets = ofKind(manifests, 'PodDisruptionBudget')
    const least = new Map(ofKind(manifests, 'HorizontalPodAutoscaler').map(({ spec }) => [spec.scaleTargetRef?.name, spec.minReplicas]))
    for (const { name, metadata } of podsOf(manifests)) {
      expect(budgets.filter(({ spec }) => selects(spec.selector ?? {}, metadata.labels)).length, name).toBe(1)
      const count = least.get(name) ?? manifests.find((one) => one.metadata.name === name && one.spec?.template)?.spec.replicas
      expect(count, name).toBeGreaterThanOrEqual(/etcd|nats|gateway|storage|watch/.test(name) ? 3 : 2)
    }
    const storage = podsOf(manifests).find(({ name }) => name === 'orch-storage')?.spec.containers[0]
    expect(storage?.args).toContain('--nats-stream-replicas=3')
  })
})

test('the files that the image copies exist, its program is the bundle, and it runs as an unprivileged user', () => {
  const root = join(deployFolder, '..')
  const text = readFileSync(join(deployFolder, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
  const instructions = text.split('\n').filter((line) => /^[A-Z]+ /.test(line))
  const last = (name: string) => instructions.findLast((line) => line.startsWith(`${name} `)) ?? ''
  expect(last('USER')).toBe('USER 65532:65532')
  const [node, ...args] = JSON.parse(last('ENTRYPOINT').slice('ENTRYPOINT '.length)) as string[]
  expect(node).toBe('node')
  const bundleFolder = /cp -r (\S+) \/out\/(\S+)(?= +&& cp deploy)/.exec(text)?.slice(1)
  expect(bundleFolder).toEqual(['services/orch/dist/bundle', 'services/orch/dist/bundle'])
  expect(args.at(-1)).toBe(`/orch/${bundleFolder?.[1]}/main.js`)
  const copied = /cp ((?:[\w./-]+ )+)\/out\/$/m.exec(text)?.[1]?.trim().split(' ') ?? []
  expect(copied).toEqual(['deploy/probe.mjs', 'LICENSE'])
  for (const path of [...copied, 'scripts/bundle.mjs', 'pnpm-lock.yaml']) expect(existsSync(join(root, path)), path).toBe(true)
  const bootstrap = readFileSync(join(root, 'scripts/bootstrap.mjs'), 'utf8')
  expect(text).toContain(`pnpm@${/const pnpmVersion = '([\d.]+)'/.exec(bootstrap)?.[1]}`)
})

interface Composed {
  readonly '<<'?: Composed
  readonly command?: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
  readonly volumes?: readonly string[]
  readonly read_only?: boolean
  readonly healthcheck?: { readonly test: readonly string[] }
}

test('all names in Compose resolve, and every service of ours has a health check', () => {
  const { services, volumes } = loadYaml(readFileSync(join(deployFolder, 'compose.yaml'), 'utf8')) as {
    services: Record<string, Composed>
    volumes: Record<string, unknown>
  }
  for (const [name, { '<<': common = {}, ...own }] of Object.entries(services)) {
    const { command = [], depends_on: before = [], volumes: mounts = [], read_only: isReadOnly, healthcheck } = { ...common, ...own }
    for (const other of Array.isArray(before) ? before : Object.keys(before)) expect(Object.keys(services), name).toContain(other)
    for (const mount of mounts) {
      const [source = ''] = mount.split(':')
      if (source.startsWith('.')) expect(existsSync(join(deployFolder, source)), `${name} ${source}`).toBe(true)
      else expect(Object.keys(volumes), name).toContain(source)
    }
    for (const [, host] of command.join(' ').matchAll(/(?:\/\/\/?|=)(orch-[a-z]+):\d+/g))
      expect(Object.keys(services), name).toContain(host)
    if (!serviceRoles.some((role) => name === `orch-${role}`)) continue
    expect(isReadOnly, name).toBe(true)
    expect(healthcheck?.test.slice(0, 3), name).toEqual(['CMD', 'node', '/orch/probe.mjs'])
  }
})

const analyze = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!analyze)(`systemd accepts the units${analyze ? '' : ' [skipped: no systemd-analyze on the PATH]'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-units-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const units = readdirSync(join(deployFolder, 'systemd'))
  // The units' programs must exist for the check.
  for (const unit of units)
    writeFileSync(
      join(folder, unit),
      readFileSync(join(deployFolder, 'systemd', unit), 'utf8').replaceAll('/opt/orch/bin/node', process.execPath),
    )
  const checked = spawnSync('systemd-analyze', ['verify', '--man=no', ...units.map((unit) => join(folder, unit))], { encoding: 'utf8' })
  expect({ status: checked.status, said: checked.stderr.split('\n').filter((line) => line.includes(folder)) }).toEqual({
    status: 0,
    said: [],
  })
})

test.skipIf(!analyze).each(readdirSync(join(deployFolder, 'systemd')))(
  'the unit %s names its Node program, and systemd rates its exposure at most 2 of 10',
  (unit) => {
    const path = join(deployFolder, 'systemd', unit)
    expect(readFileSync(path, 'utf8')).toMatch(/^ExecStart=\/opt\/orch\/bin\/node /m)
    const rated = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', path], { encoding: 'utf8' })
    expect(rated.status, rated.stdout).toBe(0)
  },
)
