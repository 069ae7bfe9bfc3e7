import type { Defaulter } from '../../kind/define-resource.ts'
import { child, children, type Draft, ensureChild, fill, isEmptyField } from '../../kind/draft.ts'
import { isReachedFromOutside } from './service-type.ts'

const clientAffinitySeconds = 10_800

export const fillService: Defaulter = (service, _names, isGateOn, level) => {
  const spec = ensureChild(service, 'spec')
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' })
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig']
  else fill(ensureChild(ensureChild(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: clientAffinitySeconds })
  for (const port of children(spec, 'ports')) fillServicePort(port)
  const type = spec['type']
  if (isReachedFromOutside(spec, level)) fill(spec, { externalTrafficPolicy: 'Cluster' })
  if (type !== 'ExternalName') fill(spec, { internalTrafficPolicy: 'Cluster' })
  if (type !== 'LoadBalancer') return
  fill(spec, { allocateLoadBalancerNodePorts: true })
  if (!isGateOn('LoadBalancerIPMode')) return
  for (const point of children(child(child(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (point['ip'] !== undefined && point['ip'] !== '') fill(point, { ipMode: 'VIP' })
  }
}

function fillServicePort(port: Draft): void {
  fill(port, { protocol: 'TCP' })
  const target = port['targetPort']
  if (target === undefined || target === 0 || target === '') port['targetPort'] = port['port']
}

export function fillEndpoints(endpoints: Draft): void {
  for (const subset of children(endpoints, 'subsets')) for (const port of children(subset, 'ports')) fill(port, { protocol: 'TCP' })
}

export function fillEndpointSlice(slice: Draft): void {
  for (const port of children(slice, 'ports')) fill(port, { name: '', protocol: 'TCP' })
}

export function fillNetworkPolicy(policy: Draft): void {
  const spec = ensureChild(policy, 'spec')
  for (const rule of [...children(spec, 'ingress'), ...children(spec, 'egress')]) {
    for (const port of children(rule, 'ports')) fill(port, { protocol: 'TCP' })
  }
  if (isEmptyField(spec, 'policyTypes')) spec['policyTypes'] = isEmptyField(spec, 'egress') ? ['Ingress'] : ['Ingress', 'Egress']
}

export function fillIngressClass(ingressClass: Draft): void {
  fill(child(child(ingressClass, 'spec'), 'parameters'), { scope: 'Cluster' })
}
