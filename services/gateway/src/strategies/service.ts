import { dropFieldsOfFormerType } from '@orch/core/catalogue'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import { ipFamilyOf, isSame } from '@orch/core/validation'
import type { RulesOf } from './kind-rules.ts'

/** Addresses and ports are reserved beside the write; see `allocation`. */
export const serviceStrategy: RulesOf<'core/v1.Service'> = {
  prepareCreate(object) {
    object.status = { loadBalancer: {} }
    fillAddresses(object)
    object.spec = withoutInnerPolicy(object.spec)
  },
  prepareUpdate: fillAddresses,
  fillStored(object) {
    fillAddresses(object)
    const { type, clusterIPs = [], ipFamilies = [], selector = {} } = object.spec
    if (type === 'ExternalName' || ipFamilies.length > 0) return
    const isHeadless = clusterIPs[0] === 'None'
    const hasTwo = isHeadless ? Object.keys(selector).length === 0 : clusterIPs.length > 1
    const families = isHeadless ? (hasTwo ? ['IPv4', 'IPv6'] : ['IPv4']) : clusterIPs.map((address) => ipFamilyOf(address) ?? 'IPv4')
    if (families.length > 0)
      object.spec = { ...object.spec, ipFamilies: families, ipFamilyPolicy: hasTwo ? 'RequireDualStack' : 'SingleStack' }
  },
  completeUpdate(object, live, { subresource, level }) {
    if (subresource !== undefined) return
    const spec = structuredClone(object.spec)
    dropFieldsOfFormerType(spec, live.spec, level)
    if (spec.type !== 'ExternalName' && live.spec.type !== 'ExternalName') keepAddresses(spec, live.spec)
    object.spec = withoutInnerPolicy(spec)
    // The load balancer is gone for clients at once, even if its removal takes time.
    if (spec.type !== 'LoadBalancer') object.status = { ...object.status, loadBalancer: {} }
  },
}

type Spec = BuiltIn<'core/v1.Service'>['spec']

/** Older clients set or clear only the single address. Its writer does not own the field that the server sets. */
function fillAddresses(object: MutableBuiltIn<'core/v1.Service'>, live?: BuiltIn<'core/v1.Service'>): void {
  const { clusterIP = '', clusterIPs = [], ...rest } = object.spec
  if (clusterIP === '') {
    if (isSame(clusterIPs, live?.spec.clusterIPs)) object.spec = rest
    return
  }
  const isKept = clusterIP === live?.spec.clusterIP
  const isLeft = !isKept && isSame(clusterIPs, live?.spec.clusterIPs)
  if (clusterIPs.length > 0 && !isLeft) return
  object.spec = { ...object.spec, clusterIPs: (isKept && live?.spec.clusterIPs) || [clusterIP] }
}

/** Kube-apiserver shows no policy for traffic inside the cluster with a Service that has only an external name. */
function withoutInnerPolicy(spec: Spec): Spec {
  if (spec.type !== 'ExternalName') return spec
  const { internalTrafficPolicy: _policy, ...rest } = spec
  return rest
}

/** An update that gives no address keeps that of the Service. */
function keepAddresses(spec: { clusterIP?: string; clusterIPs?: readonly string[] }, { clusterIP, clusterIPs }: Spec): void {
  if (!spec.clusterIP && clusterIP !== undefined) spec.clusterIP = clusterIP
  if ((spec.clusterIPs ?? []).length === 0 && spec.clusterIP === clusterIP && clusterIPs !== undefined) spec.clusterIPs = clusterIPs
}
