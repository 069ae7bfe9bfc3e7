import { getOrMake } from '@orch/cel/memo'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { Family } from './endpoint-pods.ts'
import type { EndpointNames } from './names.ts'
import { type Endpoint, inHashOrder, type PortGroup, portsKey } from './slices.ts'
import type { Hash, Subset } from './subsets.ts'

export type Endpoints = BuiltIn<'core/v1.Endpoints'>

/** Maximum number of mirrored addresses per subset. */
export const mirroredMax = 1000

export function isMirrored({ metadata: { labels, annotations } }: Endpoints, names: EndpointNames): boolean {
  return labels?.[names.skipMirror] !== 'true' && annotations?.[names.leader] === undefined
}

/** The slices for the subsets of custom Endpoints: one per set of ports and family. */
export function mirror(subsets: readonly Subset[], hash: Hash) {
  const groups = new Map<Family, (PortGroup & { readonly endpoints: Endpoint[] })[]>()
  let [invalidCount, skippedCount] = [0, 0]
  for (const { addresses, notReadyAddresses, ports } of subsets) {
    const all = [
      ...(addresses ?? []).map((one) => toEndpoint(one, true)),
      ...(notReadyAddresses ?? []).map((one) => toEndpoint(one, false)),
    ]
    const valid = all.filter(({ family }) => family !== undefined)
    const kept = valid.slice(0, mirroredMax)
    invalidCount += all.length - valid.length
    skippedCount += all.length - kept.length
    const given = (ports ?? []).map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
      name,
      port,
      protocol,
      ...(appProtocol != null && { appProtocol }),
    }))
    const ofPorts = inHashOrder(given, hash)
    for (const family of ['IPv4', 'IPv6'] as const) {
      const endpoints = kept.flatMap((one) => (one.family === family ? [one.endpoint] : []))
      if (endpoints.length === 0) continue
      const ofFamily = getOrMake(groups, family, () => [])
      const group = ofFamily.find(({ ports: known }) => portsKey(known) === portsKey(ofPorts))
      if (group === undefined) ofFamily.push({ ports: ofPorts, endpoints })
      else group.endpoints.push(...endpoints)
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
  { ip = '', hostname = '', nodeName, targetRef }: BuiltIn<'core/v1.EndpointAddress'>,
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
