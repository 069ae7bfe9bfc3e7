import { child, children, type Draft, ensureChild, fill, isEmptyField } from '../../kind/draft.ts'

const clientAffinitySeconds = 10_800

export function fillService(service: Draft): void {
  const spec = ensureChild(service, 'spec')
  fill(spec, { type: 'ClusterIP', sessionAffinity: 'None' })
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig']
  else fill(ensureChild(ensureChild(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: clientAffinitySeconds })
  for (const port of children(spec, 'ports')) fillServicePort(port)
  const type = spec['type']
  if (type === 'NodePort' || type === 'LoadBalancer') fill(spec, { externalTrafficPolicy: 'Cluster' })
  if (type !== 'ExternalName') fill(spec, { internalTrafficPolicy: 'Cluster' })
  if (type === 'LoadBalancer') fill(spec, { allocateLoadBalancerNodePorts: true })
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
