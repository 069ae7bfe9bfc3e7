import { namesOf } from '@orch/core/names'
import { resolveStruct } from '@orch/core/schema'
import { anyStruct } from '@orch/testkit'
import { fc } from '@orch/testkit/chance'
import { expect, test } from 'vitest'
import { evaluatePod, printReasons, printViolations } from './evaluate.ts'
import type { ContainerView, PodSpecView } from './pod.ts'
import { type Level, parseVersion } from './policy.ts'

const names = namesOf('orch')

interface Case {
  readonly spec?: PodSpecView
  readonly annotations?: Record<string, string>
  readonly level: Level
  readonly version?: string
  /** The minor version of the server; 37 by default. */
  readonly server?: number
}

function violations({ spec = { containers: [{ name: 'a' }] }, annotations = {}, level, version = 'latest', server = 37 }: Case) {
  const parsed = parseVersion(version)
  if (parsed === undefined) throw new Error(`no version: ${version}`)
  return evaluatePod({ level, version: parsed }, { annotations, spec }, { names, level: server })
}

const withContext = (securityContext: ContainerView['securityContext'], name = 'a'): PodSpecView => ({
  containers: [{ name, securityContext: { ...securityContext } }],
})

/** A Pod that satisfies the strictest level. */
const harmless: PodSpecView = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    { name: 'a', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } },
  ],
  volumes: ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected', 'secret'].map(
    (source) => ({
      name: source,
      [source]: {},
    }),
  ),
}

const appArmor = 'container.apparmor.security.beta.orch.io/a'
const seccomp = 'seccomp.security.alpha.orch.io/pod'

const refused: readonly (Case & { readonly title: string; readonly text: string })[] = [
  {
    title: 'an AppArmor profile',
    level: 'baseline',
    annotations: { [appArmor]: 'unconfined' },
    server: 29,
    text: `forbidden AppArmor profile (${appArmor}="unconfined")`,
  },
  {
    title: 'AppArmor profiles by field and by annotation',
    level: 'baseline',
    annotations: { [appArmor]: 'unconfined' },
    spec: { ...withContext({ appArmorProfile: { type: 'Unconfined' } }), securityContext: { appArmorProfile: { type: 'Localhost' } } },
    text: `forbidden AppArmor profiles (container "a" and annotation must not set AppArmor profile type to "Unconfined", "${appArmor}="unconfined"")`,
  },
  {
    title: 'hosts of probes and hooks',
    level: 'baseline',
    spec: {
      containers: [
        { name: 'b', livenessProbe: { httpGet: { host: 'y' } }, lifecycle: { preStop: { httpGet: {} } } },
        { name: 'a', startupProbe: { tcpSocket: { host: 'x' } }, lifecycle: { postStart: { tcpSocket: { host: 'y' } } } },
        { name: 'c', readinessProbe: { httpGet: {}, tcpSocket: { host: '' } } },
      ],
    },
    text: 'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "x", "y")',
  },
  {
    title: 'an unmasked proc of a pod with users of its own',
    level: 'restricted',
    spec: {
      hostUsers: false,
      containers: [
        {
          name: 'a',
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            seccompProfile: { type: 'Localhost' },
            procMount: 'Unmasked',
          },
        },
      ],
    },
    text: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  },
  {
    title: 'capabilities',
    level: 'baseline',
    spec: {
      initContainers: [{ name: 'i', securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }],
      containers: [{ name: 'a', securityContext: { capabilities: { add: ['CHOWN', 'NET_RAW'] } } }, { name: 'b' }],
    },
    text: 'non-default capabilities (containers "i", "a" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  },
  {
    title: 'namespaces of the host',
    level: 'baseline',
    spec: { hostNetwork: true, hostPID: true, hostIPC: true },
    text: 'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
  },
  {
    title: 'paths of the host',
    level: 'baseline',
    spec: {
      volumes: [
        { name: 'x', hostPath: { path: '/' } },
        { name: 'y', emptyDir: {} },
        { name: 'z', hostPath: { path: '/' } },
      ],
    },
    text: 'hostPath volumes (volumes "x", "z")',
  },
  {
    title: 'ports of the host',
    level: 'baseline',
    spec: { containers: [{ name: 'a', ports: [{ hostPort: 80 }, { hostPort: 443 }, {}] }] },
    text: 'hostPort (container "a" uses hostPorts 443, 80)',
  },
  {
    title: 'a privileged container',
    level: 'baseline',
    spec: { ephemeralContainers: [{ name: 'debug', securityContext: { privileged: true } }] },
    text: 'privileged (container "debug" must not set securityContext.privileged=true)',
  },
  {
    title: 'an unmasked proc',
    level: 'baseline',
    spec: withContext({ procMount: 'Unmasked' }),
    text: 'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  },
  {
    title: 'SELinux options',
    level: 'baseline',
    spec: {
      ...withContext({ seLinuxOptions: { type: 'bad_t' } }),
      securityContext: { seLinuxOptions: { user: 'u', role: 'r', type: 'container_t' } },
    },
    text: 'seLinuxOptions (pod and container "a" set forbidden securityContext.seLinuxOptions: type "bad_t"; user may not be set; role may not be set)',
  },
  {
    title: 'seccomp by annotation, as it once was',
    level: 'baseline',
    version: 'v1.18',
    annotations: {
      [seccomp]: 'unconfined',
      'container.seccomp.security.alpha.orch.io/a': 'x',
      'container.seccomp.security.alpha.orch.io/other': 'x',
    },
    text: `seccompProfile (forbidden annotations container.seccomp.security.alpha.orch.io/a="x", ${seccomp}="unconfined")`,
  },
  {
    title: 'seccomp by field',
    level: 'baseline',
    version: 'v1.19',
    spec: withContext({ seccompProfile: { type: 'Unconfined' } }),
    text: 'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  },
  {
    title: 'sysctls',
    level: 'baseline',
    spec: { securityContext: { sysctls: [{ name: 'b' }, { name: 'net.ipv4.tcp_syncookies' }, { name: 'a' }] } },
    text: 'forbidden sysctls (b, a)',
  },
  {
    title: 'a process on the host',
    level: 'baseline',
    spec: { securityContext: { windowsOptions: { hostProcess: true } } },
    text: 'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  },
  {
    title: 'escalation that is not ruled out',
    level: 'restricted',
    version: 'v1.18',
    spec: { ...harmless, containers: [{ name: 'a' }, { name: 'b', securityContext: { allowPrivilegeEscalation: true } }] },
    text: 'allowPrivilegeEscalation != false (containers "a", "b" must set securityContext.allowPrivilegeEscalation=false)',
  },
  {
    title: 'capabilities that are kept and added',
    level: 'restricted',
    spec: {
      ...harmless,
      containers: [{ name: 'a', securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CHOWN'] } } }],
    },
    text: 'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add)',
  },
  {
    title: 'volumes of other types, paths of the host once only',
    level: 'restricted',
    spec: {
      ...harmless,
      volumes: [
        { name: 'x', hostPath: {} },
        { name: 'y', nfs: {} },
        { name: 'z', novel: {} },
      ],
    },
    text: 'restricted volume types (volumes "x", "y", "z" use restricted volume types "hostPath", "nfs", "unknown")',
  },
  {
    title: 'root, said by the pod',
    level: 'restricted',
    spec: { ...harmless, securityContext: { ...harmless.securityContext, runAsNonRoot: false } },
    text: 'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
  },
  {
    title: 'root, said by nobody',
    level: 'restricted',
    spec: { ...harmless, securityContext: { seccompProfile: { type: 'Localhost' } } },
    text: 'runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)',
  },
  {
    title: 'the user 0',
    level: 'restricted',
    spec: { ...harmless, securityContext: { ...harmless.securityContext, runAsUser: 0 } },
    text: 'runAsUser=0 (pod must not set runAsUser=0)',
  },
  {
    title: 'no seccomp profile',
    level: 'restricted',
    spec: { ...harmless, securityContext: { runAsNonRoot: true } },
    text: 'seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  },
  {
    title: 'a wrong seccomp profile',
    level: 'restricted',
    spec: { ...harmless, securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Unconfined' } } },
    text: 'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  },
]

test.each(refused)('the level $level forbids $title', ({ text, ...one }) => {
  expect(printViolations(violations(one))).toBe(text)
})

test.each<readonly [string, Case]>([
  ['everything at the level privileged', { level: 'privileged', spec: { hostNetwork: true } }],
  ['a pod that says nothing at the baseline', { level: 'baseline' }],
  ['a harmless pod at the strictest level', { level: 'restricted', spec: harmless }],
  ['profiles that a runtime has', { level: 'baseline', annotations: { [appArmor]: 'runtime/default', [seccomp]: 'unconfined' } }],
  ['a local profile', { level: 'baseline', version: 'v1.10', annotations: { [appArmor]: 'localhost/x', [seccomp]: 'localhost/x' } }],
  ['seccomp by field before 1.19', { level: 'baseline', version: 'v1.18', spec: withContext({ seccompProfile: { type: 'Unconfined' } }) }],
  [
    'the user 0 before 1.23',
    { level: 'restricted', version: 'v1.22', spec: { ...harmless, securityContext: { ...harmless.securityContext, runAsUser: 0 } } },
  ],
  [
    'a container that says what the pod does not',
    {
      level: 'restricted',
      spec: {
        containers: [
          {
            name: 'a',
            securityContext: {
              allowPrivilegeEscalation: false,
              capabilities: { drop: ['ALL'] },
              runAsNonRoot: true,
              seccompProfile: { type: 'Localhost' },
            },
          },
        ],
      },
    },
  ],
  [
    'what means nothing on Windows',
    { level: 'restricted', spec: { os: { name: 'windows' }, securityContext: { runAsNonRoot: true }, containers: [{ name: 'a' }] } },
  ],
])('an allowed pod has %s', (_title, one) => {
  expect(violations(one)).toEqual([])
})

test.each([
  ['v1.0', 'restricted', ['runAsNonRoot != true']],
  ['v1.8', 'restricted', ['allowPrivilegeEscalation != false', 'runAsNonRoot != true']],
  ['v1.19', 'restricted', ['allowPrivilegeEscalation != false', 'runAsNonRoot != true', 'seccompProfile']],
  ['v1.22', 'restricted', ['allowPrivilegeEscalation != false', 'unrestricted capabilities', 'runAsNonRoot != true', 'seccompProfile']],
  ['v1.99', 'restricted', ['allowPrivilegeEscalation != false', 'unrestricted capabilities', 'runAsNonRoot != true', 'seccompProfile']],
  ['latest', 'baseline', []],
] as const)('the rules of version %s at level %s report these violations of a bare pod', (version, level, reasons) => {
  expect(printReasons(violations({ level, version }))).toBe(reasons.join(', '))
})

/** A Pod that breaks each rule that a version relaxed or added. */
const newer: PodSpecView = {
  hostUsers: false,
  securityContext: {
    sysctls: ['ip_local_reserved_ports', 'tcp_keepalive_time', 'tcp_rmem', 'tcp_notsent_lowat'].map((name) => ({
      name: `net.ipv4.${name}`,
    })),
    seLinuxOptions: { type: 'container_engine_t' },
    seccompProfile: { type: 'RuntimeDefault' },
    runAsUser: 0,
  },
  containers: [
    {
      name: 'a',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, procMount: 'Unmasked' },
      livenessProbe: { httpGet: { host: 'x' } },
    },
  ],
}

test.each([
  [37, 'v1.26', 'procMount, seLinuxOptions, forbidden sysctls: ip_local_reserved_ports tcp_keepalive_time tcp_rmem tcp_notsent_lowat'],
  [37, 'v1.27', 'procMount, seLinuxOptions, forbidden sysctls: tcp_keepalive_time tcp_rmem tcp_notsent_lowat'],
  [37, 'v1.29', 'procMount, seLinuxOptions, forbidden sysctls: tcp_rmem tcp_notsent_lowat'],
  [37, 'v1.31', 'procMount, forbidden sysctls: tcp_rmem tcp_notsent_lowat'],
  [37, 'v1.32', 'procMount, forbidden sysctls: tcp_notsent_lowat'],
  [37, 'v1.34', 'probe or lifecycle host, procMount, forbidden sysctls: tcp_notsent_lowat'],
  [37, 'v1.35', 'probe or lifecycle host, forbidden sysctls: tcp_notsent_lowat'],
  [37, 'v1.37', 'probe or lifecycle host'],
  [37, 'latest', 'probe or lifecycle host'],
  [36, 'v1.37', 'probe or lifecycle host, forbidden sysctls: tcp_notsent_lowat'],
  [33, 'latest', 'procMount, forbidden sysctls: tcp_notsent_lowat'],
])('TODAY-POD-24 a server of 1.%i checks a pod against the baseline of %s: %s', (server, version, found) => {
  const printed = violations({ level: 'baseline', version, server, spec: newer }).map(({ reason, detail }) =>
    reason === 'forbidden sysctls' ? `${reason}: ${detail.replaceAll(/net\.ipv4\.|,/g, '')}` : reason,
  )
  expect(printed.join(', ')).toBe(found)
})

test.each([
  ['v1.34', 'runAsNonRoot != true, runAsUser=0'],
  ['v1.35', 'procMount'],
])('TODAY-POD-24 the level restricted of %s forbids a pod with users of its own: %s', (version, found) => {
  const baseline = new Set(violations({ level: 'baseline', version, spec: newer }).map(({ reason }) => reason))
  const beyond = violations({ level: 'restricted', version, spec: newer }).filter(({ reason }) => !baseline.has(reason))
  expect(printReasons(beyond)).toBe(found)
})

test('the rules up to 1.24 apply to a pod for Windows too', () => {
  const spec = { os: { name: 'windows' }, containers: [{ name: 'a' }] }
  const reasons = printReasons(violations({ level: 'restricted', version: 'v1.24', spec }))
  expect(reasons).toBe('allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile')
})

test('violations of the baseline are listed first', () => {
  const spec = { hostNetwork: true, containers: [{ name: 'a', securityContext: { privileged: true } }] }
  expect(printReasons(violations({ level: 'restricted', spec }))).toBe(
    'host namespaces, privileged, allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
  )
})

test('any pod gets an answer, and the strictest level forbids everything that the baseline forbids', () => {
  const anySpec = anyStruct(resolveStruct('core/v1.PodSpec'), 'some') as fc.Arbitrary<PodSpecView>
  fc.assert(
    fc.property(anySpec, fc.integer({ min: 0, max: 40 }), (spec, minor) => {
      const found = (level: Level) => evaluatePod({ level, version: { minor } }, { annotations: {}, spec }, { names, level: 37 })
      expect(found('restricted').length >= Math.min(1, found('baseline').length)).toBe(true)
    }),
    { numRuns: 200 },
  )
})
