import { children, type Draft, readItems } from '../../kind/draft.ts'
import { isSame, itemsOf, type Part, textOf } from '../../validation/part.ts'

/**
 * Removes a former type's fields when a Service changes its type, unless the writer has changed them too: that is an error
 * for validation to report.
 */
export function dropFieldsOfFormerType(spec: Draft, live: Readonly<Draft>, level: number): void {
  const was = typeOf(live)
  const is = typeOf(spec)
  const leaves = (types: readonly string[]): boolean => types.includes(was) && !types.includes(is)
  if (leaves(['ClusterIP', 'NodePort', 'LoadBalancer'])) {
    if (isUnchanged(spec, live, 'clusterIP') && isUnchanged(spec, live, 'clusterIPs')) forget(spec, ['clusterIP', 'clusterIPs'])
    dropUnchanged(spec, live, ['ipFamilies', 'ipFamilyPolicy'])
  }
  if (leaves(['NodePort', 'LoadBalancer'])) {
    if (isSame(nodePortsOf(spec), nodePortsOf(live))) for (const port of children(spec, 'ports')) delete port['nodePort']
  }
  if (isReachedFromOutside(live, level) && !isReachedFromOutside(spec, level)) dropUnchanged(spec, live, ['externalTrafficPolicy'])
  if (leaves(['LoadBalancer'])) dropUnchanged(spec, live, ['allocateLoadBalancerNodePorts', 'loadBalancerClass'])
  if (hasHealthPort(live) && !hasHealthPort(spec)) dropUnchanged(spec, live, ['healthCheckNodePort'])
}

function typeOf(spec: Readonly<Draft>): string {
  return typeof spec['type'] === 'string' ? spec['type'] : 'ClusterIP'
}

function isUnchanged(spec: Draft, live: Readonly<Draft>, name: string): boolean {
  return isSame(spec[name], live[name])
}

function dropUnchanged(spec: Draft, live: Readonly<Draft>, names: readonly string[]): void {
  forget(
    spec,
    names.filter((name) => isUnchanged(spec, live, name)),
  )
}

function forget(spec: Draft, names: readonly string[]): void {
  for (const name of names) delete spec[name]
}

function nodePortsOf(spec: Readonly<Draft>): unknown[] {
  return readItems(spec, 'ports').map((port) => port['nodePort'] ?? 0)
}

/** The first level at which external IPs make a Service reachable from outside. */
export const outerAddressesCountSince = 29

/** True if a Service may have a policy for external traffic. */
export function isReachedFromOutside(spec: Part, level: number): boolean {
  const type = textOf(spec, 'type')
  if (type === 'NodePort' || type === 'LoadBalancer') return true
  return level >= outerAddressesCountSince && type === 'ClusterIP' && itemsOf(spec, 'externalIPs').length > 0
}

/** True if load balancers ask a separate port of each node for the health of the Pods there. */
export function hasHealthPort(spec: Part | undefined): boolean {
  return textOf(spec, 'type') === 'LoadBalancer' && textOf(spec, 'externalTrafficPolicy') === 'Local'
}
