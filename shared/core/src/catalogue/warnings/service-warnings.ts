import { type Names, subdomainLabel } from '../../names.ts'
import { canonicalIpv6, parseIp } from '../../validation/ip-address.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { isGiven } from '../validation/checks.ts'

/** The warnings of a Service: a replaced annotation, addresses that other programs read differently, and fields without effect. */
export function warningsOfService(service: Part, _live: Part | undefined, names: Names): string[] {
  const spec = partOf(service, 'spec')
  const address = textOf(spec, 'clusterIP')
  const balancer = textOf(spec, 'loadBalancerIP')
  const ofEach = (list: string, validate: (text: string, path: string) => string[]) =>
    itemsOf<string>(spec, list).flatMap((text, index) => validate(text, `spec.${list}[${index}]`))
  return [
    ...ofFormerAnnotation(service, names),
    ...(address === '' || address === 'None' ? [] : ofEach('clusterIPs', ofAddress)),
    ...ofHeadless(spec),
    ...ofEach('externalIPs', ofAddress),
    ...(balancer === '' ? [] : ofAddress(balancer, 'spec.loadBalancerIP')),
    ...ofEach('loadBalancerSourceRanges', ofRange),
    ...ofExternalName(spec),
  ]
}

function ofFormerAnnotation(service: Part, names: Names): string[] {
  const former = subdomainLabel(names, 'service', 'topology-aware-hints')
  if (!isGiven(partOf(partOf(service, 'metadata'), 'annotations'), former)) return []
  return [`annotation ${former} is deprecated, please use ${subdomainLabel(names, 'service', 'topology-mode')} instead`]
}

/** The fields without effect on a Service without a cluster address. */
function ofHeadless(spec: Part): string[] {
  if (textOf(spec, 'type') !== 'ClusterIP' || textOf(spec, 'clusterIP') !== 'None') return []
  const affinity = textOf(spec, 'sessionAffinity')
  return [
    ...(textOf(spec, 'loadBalancerIP') === '' ? [] : ['spec.loadBalancerIP is ignored for headless services']),
    ...(itemsOf<string>(spec, 'externalIPs').length === 0 ? [] : ['spec.externalIPs is ignored for headless services']),
    ...(affinity === '' || affinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ]
}

/** The fields without effect with, or without, the type ExternalName. */
function ofExternalName(spec: Part): string[] {
  if (textOf(spec, 'type') === 'ExternalName')
    return itemsOf<string>(spec, 'externalIPs').length === 0 ? [] : ['spec.externalIPs is ignored when spec.type is "ExternalName"']
  return textOf(spec, 'externalName') === '' ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"']
}

function ofAddress(text: string, path: string): string[] {
  const problem = addressProblem(text)
  if (problem !== undefined) return [`${path}: IP address was accepted, but will be invalid in a future Kubernetes release: ${problem}`]
  const canonical = canonicalIpv6(text)
  if (canonical === undefined || canonical === text) return []
  return [
    `${path}: IPv6 address ${JSON.stringify(text)} is not in RFC 5952 canonical format ("${canonical}"), which may cause controller apply-loops`,
  ]
}

function ofRange(text: string, path: string): string[] {
  const slash = text.lastIndexOf('/')
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)]
  const bitsProblem = /^(?:0|[1-9]\d*)$/.test(bits) ? undefined : `bad bits after slash: ${JSON.stringify(bits)}`
  const problem = addressProblem(address) ?? bitsProblem
  if (problem !== undefined) {
    const said = `netip.ParsePrefix(${JSON.stringify(text)}): ${problem}`
    return [`${path}: IP prefix was accepted, but will be invalid in a future Kubernetes release: ${said}`]
  }
  const canonical = canonicalIpv6(address)
  if (canonical === undefined || canonical === address) return []
  const shown = `${canonical}/${bits}`
  return [
    `${path}: IPv6 prefix ${JSON.stringify(text)} is not in RFC 5952 canonical format ("${shown}"), which may cause controller apply-loops`,
  ]
}

/** The error of Go's stricter reader of addresses. */
function addressProblem(text: string): string | undefined {
  const said = (why: string): string => `ParseAddr(${JSON.stringify(text)}): ${why}`
  if (parseIp(text) === undefined)
    return said(text.startsWith(' ') ? `unexpected character (at ${JSON.stringify(text)})` : 'unable to parse IP')
  return /(?:^|[.:])0\d+(?=\.|$)/.test(text) && text.includes('.') ? said('IPv4 field has octet with leading zero') : undefined
}
