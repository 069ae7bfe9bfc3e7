import { type Names, subdomainLabel } from '@orch/core/names'
import { type CallView, containersOf, type PodView } from './pod.ts'
import { containersNamed, containersWhere, contextsOf, plural, quoted, settersOf, sorted, type Violation } from './words.ts'

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const confinedTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

/** The evaluating server: its names, and its minor version. */
export interface Judge {
  readonly names: Names
  readonly level: number
}

/** The first level with an AppArmor profile field in a security context. */
const appArmorFieldsSince = 30

/** A container without an AppArmor profile gets the default of the runtime. */
export function findAppArmorProfiles({ annotations, spec }: PodView, { names, level }: Judge): Violation | undefined {
  const prefix = subdomainLabel(names, 'container.apparmor.security.beta', '')
  const noted = Object.entries(annotations)
    .filter(([key, profile]) => key.startsWith(prefix) && !/^$|^runtime\/default$|^localhost\//.test(profile))
    .map(([key, profile]) => `${key}=${JSON.stringify(profile)}`)
    .sort()
  const types = contextsOf(spec)
    .map(({ appArmorProfile }) => appArmorProfile?.type)
    .filter(isOtherProfile)
  const bad = [...sorted(types), ...noted]
  if (bad.length === 0) return undefined
  const reason = plural(bad, 'forbidden AppArmor profile', 'forbidden AppArmor profiles')
  if (level < appArmorFieldsSince) return { reason, detail: bad.join(', ') }
  const setters = [
    settersOf(spec, ({ appArmorProfile }) => isOtherProfile(appArmorProfile?.type)),
    noted.length === 0 ? undefined : plural(noted, 'annotation', 'annotations'),
  ].filter((setter) => setter !== undefined)
  return { reason, detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(bad)}` }
}

/** A profile other than the default of the runtime or a local one. */
function isOtherProfile(type: string | undefined): type is string {
  return type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost'
}

/** Capabilities beyond the defaults of containers. */
export function findAddedCapabilities({ spec }: PodView): Violation | undefined {
  const detail = capabilitiesBeyond(spec, (capability) => defaultCapabilities.has(capability))
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

/** The containers that add a forbidden capability. */
export function capabilitiesBeyond(spec: PodView['spec'], isAllowed: (capability: string) => boolean): string | undefined {
  const added = new Set<string>()
  const bad = containersWhere(spec, ({ securityContext }) => {
    const beyond = (securityContext?.capabilities?.add ?? []).filter((capability) => !isAllowed(capability))
    for (const capability of beyond) added.add(capability)
    return beyond.length > 0
  })
  if (bad.length === 0) return undefined
  return `${containersNamed(bad)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`
}

export function findHostNamespaces({ spec }: PodView): Violation | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
}

export function findHostPaths({ spec }: PodView): Violation | undefined {
  const bad = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name)
  if (bad.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural(bad, 'volume', 'volumes')} ${quoted(bad)}` }
}

export function findHostPorts({ spec }: PodView): Violation | undefined {
  const taken = new Set<string>()
  const bad = containersWhere(spec, ({ ports }) => {
    const hostPorts = (ports ?? []).map(({ hostPort }) => hostPort ?? 0).filter((port) => port !== 0)
    for (const port of hostPorts) taken.add(String(port))
    return hostPorts.length > 0
  })
  if (bad.length === 0) return undefined
  const ports = sorted(taken)
  const use = plural(bad, 'uses', 'use')
  return { reason: 'hostPort', detail: `${containersNamed(bad)} ${use} ${plural(ports, 'hostPort', 'hostPorts')} ${ports.join(', ')}` }
}

/** Probes and hooks may call only their own Pod. */
export function findProbeHosts({ spec }: PodView): Violation | undefined {
  const called = new Set<string>()
  const bad = sorted(
    containersWhere(spec, ({ livenessProbe, readinessProbe, startupProbe, lifecycle }) => {
      const hosts = hostsOf([livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop])
      for (const host of hosts) called.add(host)
      return hosts.length > 0
    }),
  )
  if (bad.length === 0) return undefined
  const hosts = sorted(called)
  const reason = 'probe or lifecycle host'
  return { reason, detail: `${containersNamed(bad)} ${plural(bad, 'uses', 'use')} ${plural(hosts, reason, `${reason}s`)} ${quoted(hosts)}` }
}

function hostsOf(calls: readonly (CallView | undefined)[]): readonly string[] {
  return calls.flatMap((call) => [call?.httpGet?.host ?? '', call?.tcpSocket?.host ?? '']).filter((host) => host !== '')
}

export function findPrivileged({ spec }: PodView): Violation | undefined {
  const bad = containersWhere(spec, ({ securityContext }) => securityContext?.privileged === true)
  if (bad.length === 0) return undefined
  return { reason: 'privileged', detail: `${containersNamed(bad)} must not set securityContext.privileged=true` }
}

export function findProcMounts({ spec }: PodView): Violation | undefined {
  const unmasked = new Set<string>()
  const bad = containersWhere(spec, ({ securityContext }) => {
    const procMount = securityContext?.procMount
    if (procMount === undefined || procMount === 'Default') return false
    unmasked.add(procMount)
    return true
  })
  if (bad.length === 0) return undefined
  return { reason: 'procMount', detail: `${containersNamed(bad)} must not set securityContext.procMount to ${quoted(sorted(unmasked))}` }
}

export const findSeLinuxOptions = seLinuxOptionsBeyond(confinedTypes)

/** Since version 1.31. */
export const findSeLinuxOptionsOfEngines = seLinuxOptionsBeyond([...confinedTypes, 'container_engine_t'])

function seLinuxOptionsBeyond(allowed: readonly string[]) {
  const allowedTypes = new Set(allowed)
  return ({ spec }: PodView) => seLinuxProblem(spec, allowedTypes)
}

function seLinuxProblem(spec: PodView['spec'], confinedTypes: ReadonlySet<string>): Violation | undefined {
  const setters = settersOf(spec, ({ seLinuxOptions: options }) => {
    return options !== undefined && (!confinedTypes.has(options.type ?? '') || isSet(options.user) || isSet(options.role))
  })
  if (setters === undefined) return undefined
  const all = contextsOf(spec).map(({ seLinuxOptions }) => seLinuxOptions)
  const types = sorted(all.map((options) => options?.type ?? '').filter((type) => !confinedTypes.has(type)))
  const faults = [
    ...(types.length > 0 ? [`${plural(types, 'type', 'types')} ${quoted(types)}`] : []),
    ...(all.some((options) => isSet(options?.user)) ? ['user may not be set'] : []),
    ...(all.some((options) => isSet(options?.role)) ? ['role may not be set'] : []),
  ]
  return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}` }
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== ''

/** The keys of the annotations that preceded the field. */
export function seccompKeys(names: Names): { readonly pod: string; readonly containerPrefix: string } {
  return {
    pod: subdomainLabel(names, 'seccomp.security.alpha', 'pod'),
    containerPrefix: subdomainLabel(names, 'container.seccomp.security.alpha', ''),
  }
}

/** The check up to version 1.18. */
export function findSeccompAnnotations({ annotations, spec }: PodView, { names }: Judge): Violation | undefined {
  const { pod, containerPrefix } = seccompKeys(names)
  const keys = [pod, ...containersOf(spec).map(({ name }) => `${containerPrefix}${name}`)]
  const bad = sorted(
    keys
      .filter((key) => annotations[key] !== undefined && !/^(?:runtime|docker)\/default$|^localhost\//.test(annotations[key]))
      .map((key) => `${key}=${JSON.stringify(annotations[key])}`),
  )
  if (bad.length === 0) return undefined
  return { reason: 'seccompProfile', detail: `forbidden ${plural(bad, 'annotation', 'annotations')} ${bad.join(', ')}` }
}

/** The check since version 1.19. */
export function findSeccompProfiles({ spec }: PodView): Violation | undefined {
  const setters = settersOf(spec, ({ seccompProfile }) => isOtherProfile(seccompProfile?.type))
  if (setters === undefined) return undefined
  const types = contextsOf(spec)
    .map(({ seccompProfile }) => seccompProfile?.type)
    .filter(isOtherProfile)
  return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(sorted(types))}` }
}

/** Safe kernel parameters that a version adds, with the first version. */
const safeSysctls: readonly (readonly [number, readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.ip_unprivileged_port_start',
      'net.ipv4.ping_group_range',
      'net.ipv4.tcp_syncookies',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [29, ['net.ipv4.tcp_fin_timeout', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_keepalive_time']],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
  [37, ['net.ipv4.tcp_notsent_lowat', 'net.ipv4.tcp_slow_start_after_idle']],
]

/** The check of kernel parameters, in its form for each version. */
export const sysctlEditions = safeSysctls.map(([since]) => {
  const safe = new Set(safeSysctls.filter((added) => added[0] <= since).flatMap(([, names]) => names))
  return { since, find: ({ spec }: PodView) => findSysctlsBeyond(spec, safe) }
})

function findSysctlsBeyond(spec: PodView['spec'], safe: ReadonlySet<string>): Violation | undefined {
  const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !safe.has(name))
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
}

export function findHostProcesses({ spec }: PodView): Violation | undefined {
  const setters = settersOf(spec, ({ windowsOptions }) => windowsOptions?.hostProcess === true)
  if (setters === undefined) return undefined
  return { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` }
}
