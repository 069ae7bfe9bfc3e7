import type { WarningContext } from '../../kind/define-resource.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { isGiven } from '../validation/checks.ts'
import { warningsOfCidr, warningsOfIp } from './address-warnings.ts'

/** The first levels at which external IPs, and the old name of a traffic preference, are deprecated. */
const outerAddressesDeprecatedSince = 36
const preferenceDeprecatedSince = 35

/** The first level that warns about the former name of an annotation. */
const formerAnnotationSince = 27

/** The first levels that warn about fields without effect: beside an external name, and of headless Services. */
const externalNamesSince = 28
const headlessSince = 34

/** The warnings about a Service: deprecated names, addresses that other programs read differently, and fields without effect. */
export function warningsOfService(service: Part, _live: Part | undefined, names: Names, { level }: WarningContext): string[] {
  const spec = partOf(service, 'spec')
  const [address, balancer] = [textOf(spec, 'clusterIP'), textOf(spec, 'loadBalancerIP')]
  const ofEach = (list: string, warningsOf: typeof warningsOfIp) =>
    itemsOf<string>(spec, list).flatMap((text, index) => warningsOf(text, `spec.${list}[${index}]`, level))
  return [
    ...(level >= formerAnnotationSince ? ofFormerAnnotation(service, names) : []),
    ...(address === '' || address === 'None' ? [] : ofEach('clusterIPs', warningsOfIp)),
    ...(level >= headlessSince ? ofHeadless(spec) : []),
    ...ofEach('externalIPs', warningsOfIp),
    ...(level >= outerAddressesDeprecatedSince ? ofOuterAddresses(spec) : []),
    ...(balancer === '' ? [] : warningsOfIp(balancer, 'spec.loadBalancerIP', level)),
    ...ofEach('loadBalancerSourceRanges', warningsOfCidr),
    ...(level >= externalNamesSince ? ofExternalName(spec) : []),
    ...(level >= preferenceDeprecatedSince ? ofPreference(spec) : []),
  ]
}

/** The first level that warns about addresses of load balancers. */
const balancersCheckedSince = 33

/** The warnings about addresses in the status of a Service or Ingress. */
export function warningsOfBalancer(object: Part, _live: Part | undefined, _names: Names, { level }: WarningContext): string[] {
  if (level < balancersCheckedSince) return []
  return itemsOf(partOf(partOf(object, 'status'), 'loadBalancer'), 'ingress').flatMap((point, index) => {
    const ip = textOf(point, 'ip')
    return ip === '' ? [] : warningsOfIp(ip, `status.loadBalancer.ingress[${index}]`, level)
  })
}

function ofFormerAnnotation(service: Part, names: Names): string[] {
  const former = subdomainLabel(names, 'service', 'topology-aware-hints')
  if (!isGiven(partOf(partOf(service, 'metadata'), 'annotations'), former)) return []
  return [`annotation ${former} is deprecated, please use ${subdomainLabel(names, 'service', 'topology-mode')} instead`]
}

function isHeadless(spec: Part): boolean {
  return textOf(spec, 'type') === 'ClusterIP' && textOf(spec, 'clusterIP') === 'None'
}

/** Fields without effect on a headless Service. */
function ofHeadless(spec: Part): string[] {
  if (!isHeadless(spec)) return []
  const affinity = textOf(spec, 'sessionAffinity')
  return [
    ...(textOf(spec, 'loadBalancerIP') === '' ? [] : ['spec.loadBalancerIP is ignored for headless services']),
    ...(itemsOf<string>(spec, 'externalIPs').length === 0 ? [] : ['spec.externalIPs is ignored for headless services']),
    ...(affinity === '' || affinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ]
}

function ofOuterAddresses(spec: Part): string[] {
  const isUsed = itemsOf<string>(spec, 'externalIPs').length > 0 && !isHeadless(spec) && textOf(spec, 'type') !== 'ExternalName'
  return isUsed ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'] : []
}

function ofPreference(spec: Part): string[] {
  if (textOf(spec, 'trafficDistribution') !== 'PreferClose') return []
  return ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
}

/** Fields without effect on a Service of type ExternalName, or of another type. */
function ofExternalName(spec: Part): string[] {
  if (textOf(spec, 'type') === 'ExternalName')
    return itemsOf<string>(spec, 'externalIPs').length === 0 ? [] : ['spec.externalIPs is ignored when spec.type is "ExternalName"']
  return textOf(spec, 'externalName') === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"']
}
