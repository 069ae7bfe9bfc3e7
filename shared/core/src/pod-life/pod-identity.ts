import type { BuiltIn } from '../schema/index.ts'
import type { Pod } from '../workloads/pods.ts'
import type { PodContainer } from './phase.ts'

/** Maximum length of a host name without its domain. */
const hostnameLengthMax = 63

/** The host name of the containers of a Pod, its first label, and the domain of its subdomain (kubelet_pods.go). */
export interface PodHost {
  readonly hostname: string
  readonly shortName: string
  readonly domain: string
}

export function hostOf({ metadata, spec }: Pod, clusterDomain: string): PodHost {
  if (spec.hostNetwork === true) return { hostname: spec.nodeName ?? '', shortName: spec.nodeName ?? '', domain: '' }
  const name = spec.hostnameOverride || spec.hostname || metadata.name || ''
  const shortName = name.slice(0, hostnameLengthMax).replace(/[-.]+$/, '')
  const domain = spec.subdomain && !spec.hostnameOverride ? `${spec.subdomain}.${metadata.namespace}.svc.${clusterDomain}` : ''
  return { hostname: spec.setHostnameAsFQDN === true && domain !== '' ? `${shortName}.${domain}` : shortName, shortName, domain }
}

/** The file /etc/hosts that the kubelet writes for the containers of a Pod. */
export function hostsFile({ spec, status }: Pod, { shortName, domain }: PodHost): string {
  const addresses = spec.hostNetwork === true ? [] : (status.podIPs ?? []).map(({ ip }) => ip)
  const own = addresses.map((address) => `${address}\t${domain === '' ? '' : `${shortName}.${domain}\t`}${shortName}`)
  const aliases = (spec.hostAliases ?? []).map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join('\t')}`)
  return [
    `# Kubernetes-managed hosts file${spec.hostNetwork === true ? ' (host network)' : ''}.`,
    ...['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback', 'fe00::0\tip6-localnet', 'fe00::0\tip6-mcastprefix'],
    ...['fe00::1\tip6-allnodes', 'fe00::2\tip6-allrouters', ...own],
    ...(aliases.length > 0 ? ['', '# Entries added by HostAliases.', ...aliases] : []),
    '',
  ].join('\n')
}

/** The user of a container. */
export interface ContainerUser {
  readonly uid: number
  readonly gid: number
  /** The group of the user, and the other groups of the Pod. */
  readonly groups: readonly number[]
}

/** The user and the groups of a container by the security contexts; root where they name none. */
export function userOf({ spec: { securityContext } }: Pod, container: PodContainer | undefined): ContainerUser {
  const own = container?.securityContext
  const uid = own?.runAsUser ?? securityContext?.runAsUser ?? 0
  const gid = own?.runAsGroup ?? securityContext?.runAsGroup ?? 0
  const { fsGroup, supplementalGroups } = securityContext ?? {}
  const groups = new Set([gid, ...(fsGroup == null ? [] : [fsGroup]), ...(supplementalGroups ?? [])].map(Number))
  return { uid: Number(uid), gid: Number(gid), groups: [...groups] }
}

type Service = BuiltIn<'core/v1.Service'>

/** The Service of the API server, whose variables each container has. */
const serverService = 'default/kubernetes'

/** The variables about Services in the environment of a container (envvars.go): those of its namespace that were there at its start. */
export function serviceVariables({ metadata, spec }: Pod, services: Iterable<Service>, startedMs: number): Record<string, string> {
  const variables: Record<string, string> = Object.create(null)
  for (const { metadata: own, spec: service } of services) {
    const isLinked = own.namespace === metadata.namespace && spec.enableServiceLinks !== false
    const { clusterIP, ports } = service
    if (!(isLinked || `${own.namespace}/${own.name}` === serverService) || !clusterIP || clusterIP === 'None') continue
    if (Date.parse(own.creationTimestamp ?? '') > startedMs) continue
    const prefix = variableName(own.name ?? '')
    variables[`${prefix}_SERVICE_HOST`] = clusterIP
    for (const [index, { name, port, protocol }] of (ports ?? []).entries()) {
      const scheme = (protocol || 'TCP').toLowerCase()
      const url = `${scheme}://${clusterIP.includes(':') ? `[${clusterIP}]` : clusterIP}:${port}`
      if (index === 0) Object.assign(variables, { [`${prefix}_SERVICE_PORT`]: `${port}`, [`${prefix}_PORT`]: url })
      if (name) variables[`${prefix}_SERVICE_PORT_${variableName(name)}`] = `${port}`
      const link = `${prefix}_PORT_${port}_${scheme.toUpperCase()}`
      Object.assign(variables, { [link]: url, [`${link}_PROTO`]: scheme, [`${link}_PORT`]: `${port}`, [`${link}_ADDR`]: clusterIP })
    }
  }
  return variables
}

function variableName(text: string): string {
  return text.replaceAll('-', '_').toUpperCase()
}
