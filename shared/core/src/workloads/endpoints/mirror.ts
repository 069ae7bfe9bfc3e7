import type { BuiltIn } from '../../schema/built-in.ts'
import type { Family } from './endpoint-pods.ts'
import type { EndpointNames } from './names.ts'
import type { Endpoint, PortGroup } from './slices.ts'
import { repack } from './subsets.ts'

export type Endpoints = BuiltIn<'core/v1.Endpoints'>
type Address = BuiltIn<'core/v1.EndpointAddress'>

/** Maximum number of mirrored addresses per subset. */
export const mirroredMax = 1000

export function isMirrored({ metadata: { labels, annotations } }: Endpoints, names: EndpointNames): boolean {
  if (labels?.[names.skipMirror] === 'true' || labels?.[names.endpointsManagedBy] === 'endpoint-controller') return false
  return annotations?.[names.leader] === undefined
}

/** The slices for custom Endpoints: one per subset and family. */
export function mirror({ subsets }: Endpoints) {
  const groups = new Map<Family, PortGroup[]>()
  let [invalidCount, skippedCount] = [0, 0]
  for (const { addresses, notReadyAddresses, ports } of repack(subsets ?? [])) {
    const all = [
      ...(addresses ?? []).map((one) => toEndpoint(one, true)),
      ...(notReadyAddresses ?? []).map((one) => toEndpoint(one, false)),
    ]
    const valid = all.filter(({ family }) => family !== undefined)
    const kept = valid.slice(0, mirroredMax)
    invalidCount += all.length - valid.length
    skippedCount += all.length - kept.length
    const ofPorts = (ports ?? []).map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol != null && { appProtocol }),
    }))
    for (const family of ['IPv4', 'IPv6'] as const) {
      const endpoints = kept.flatMap((one) => (one.family === family ? [one.endpoint] : []))
      if (endpoints.length > 0) groups.set(family, [...(groups.get(family) ?? []), { ports: ofPorts, endpoints }])
    }
  }
  return {
    groups,
    /** Number of invalid addresses. */
    invalidCount,
    /** Number of omitted addresses, including invalid ones. */
    skippedCount,
  }
}

function toEndpoint(
  { ip = '', hostname = '', nodeName, targetRef }: Address,
  ready: boolean,
): { family: Family | undefined; endpoint: Endpoint } {
  const family = ip.includes(':') ? 'IPv6' : /^\d+\.\d+\.\d+\.\d+$/.test(ip) ? 'IPv4' : undefined
  const endpoint = {
    addresses: [ip],
    conditions: { ready },
    ...(hostname !== '' && { hostname }),
    ...(nodeName && { nodeName }),
    ...(targetRef && { targetRef }),
  }
  return { family, endpoint }
}
