import type { BuiltIn } from '../../schema/built-in.ts'
import type { Pod } from '../pods.ts'

export type Service = BuiltIn<'core/v1.Service'>

export type Family = 'IPv4' | 'IPv6'

/** True if a Pod can be an endpoint: it has an address and has not finished. */
export function isEndpointPod({ metadata, status }: Pod, withTerminating: boolean): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return false
  if ((status.podIP ?? '') === '' && (status.podIPs ?? []).length === 0) return false
  return withTerminating || metadata.deletionTimestamp == null
}

export function addressesOf({ status }: Pod, family: Family): string[] {
  return (status.podIPs ?? []).flatMap(({ ip = '' }) => (isIPv6(ip) === (family === 'IPv6') ? [ip] : []))
}

/** The IP families of a Service, the primary one first. */
export function familiesOf({ spec: { ipFamilies, clusterIP = '' } }: Service): readonly Family[] {
  const given = (ipFamilies ?? []).flatMap((family): Family[] => (family === 'IPv4' || family === 'IPv6' ? [family] : []))
  if (given.length > 0) return given
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6']
  return [isIPv6(clusterIP) ? 'IPv6' : 'IPv4']
}

export function isHeadless({ spec: { clusterIP = '' } }: Service): boolean {
  return clusterIP === '' || clusterIP === 'None'
}

/** The Pod's host name within the Service; undefined if the Pod has another subdomain or none. */
export function hostnameOf({ metadata, spec }: Pod, service: Service): string | undefined {
  const isOfService = spec.subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
  return isOfService && (spec.hostname ?? '') !== '' ? spec.hostname : undefined
}

/** The number of a Service's port on a Pod; undefined if no container has a port with that name and protocol. */
export function portAt({ spec }: Pod, { targetPort, protocol = 'TCP' }: BuiltIn<'core/v1.ServicePort'>, level: number): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  const sidecars = level < 33 ? [] : (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports } of [...(spec.containers ?? []), ...sidecars]) {
    const found = ports?.find((port) => port.name === targetPort && (port.protocol ?? 'TCP') === protocol)
    if (found !== undefined) return found.containerPort
  }
  return undefined
}

function isIPv6(address: string): boolean {
  return address.includes(':')
}
