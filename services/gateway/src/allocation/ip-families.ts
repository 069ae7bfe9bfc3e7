import type { FieldError } from '@orch/core/meta'
import { invalidTexts, ipFamilyOf, isSame } from '@orch/core/validation'
import type { ServiceSpec } from './reserved-keys.ts'

/** The fields that determine the address families of a Service. */
export type FamilySpec = Pick<ServiceSpec, 'clusterIP' | 'clusterIPs' | 'ipFamilies' | 'ipFamilyPolicy' | 'selector'>

export interface Families {
  /** The addresses of the request, without those that it releases. */
  readonly clusterIPs: readonly string[]
  readonly ipFamilies: readonly string[]
  readonly ipFamilyPolicy: string
  /** The errors of requests that this server cannot fulfil; empty for none. */
  readonly errors: readonly FieldError[]
}

const policyField = 'spec.ipFamilyPolicy'

/** The families of a Service on a server with addresses of these families, its own one first. */
export function familiesOf(spec: FamilySpec, before: FamilySpec, served: readonly string[]): Families {
  const isDetached = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? before.ipFamilyPolicy ?? (isDetached ? 'RequireDualStack' : 'SingleStack')
  const isSingle = ipFamilyPolicy === 'SingleStack'
  // An update to one family that repeats two addresses or families releases the second.
  const kept = (name: 'clusterIPs' | 'ipFamilies') =>
    (isSingle && isSame(spec[name], before[name]) ? spec[name]?.slice(0, 1) : spec[name]) ?? []
  const [clusterIPs, given] = [kept('clusterIPs'), kept('ipFamilies')]
  const addresses = clusterIPs.filter((address) => address !== 'None')
  const inferred = addresses.slice(given.length).map((address) => ipFamilyOf(address) ?? 'IPv4')
  const ipFamilies = [...given, ...inferred]
  const settled = (families: readonly string[], errors: readonly FieldError[] = []) => ({
    clusterIPs,
    ipFamilies: families,
    ipFamilyPolicy,
    errors,
  })
  const contradictions = [
    ...(isSingle ? refuseSecond(addresses, given, ipFamilyPolicy) : refuseRelease(clusterIPs, given, before, ipFamilyPolicy)),
    ...inferred.flatMap((family, index) => (served.includes(family) ? [] : [notConfigured(clusterIPs, given.length + index, family)])),
  ]
  if (contradictions.length > 0) return settled(ipFamilies, contradictions)
  const [first = 'IPv4', ...further] = [...ipFamilies, ...(ipFamilies.length === 0 ? served.slice(0, 1) : [])]
  const isCompleted = !isSingle && further.length === 0 && (isDetached || served.length > 1)
  const families = [first, ...(isCompleted ? [first === 'IPv4' ? 'IPv6' : 'IPv4'] : further)]
  // Its addresses come from its writer, and may have other families than the server's.
  if (isDetached) return settled(families)
  return settled(families, [
    ...(ipFamilyPolicy === 'RequireDualStack' && served.length < 2
      ? [invalid(policyField, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, index) =>
      served.includes(family) ? [] : [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ])
}

function refuseRelease(clusterIPs: readonly string[], families: readonly string[], before: FamilySpec, policy: string): FieldError[] {
  const isFewer = (now: readonly string[], had: readonly string[] = []) => now.length > 0 && now.length < had.length
  const error = (what: string) => invalid(policyField, policy, `must be 'SingleStack' to release the secondary ${what}`)
  return [
    ...(isFewer(clusterIPs, before.clusterIPs) ? [error('cluster IP')] : []),
    ...(isFewer(families, before.ipFamilies) ? [error('IP family')] : []),
  ]
}

function refuseSecond(addresses: readonly string[], families: readonly string[], policy: string): FieldError[] {
  const errors: FieldError[] = []
  const detail = (what: string) => `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
  if (addresses.length === 2) errors.push(invalid(policyField, policy, detail('cluster IPs')))
  if (families.length === 2) errors.push(invalid(policyField, policy, detail('IP families')))
  return errors
}

function invalid(field: string, value: string, detail: string): FieldError {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${detail}` }
}

function notConfigured(clusterIPs: readonly string[], index: number, family: string): FieldError {
  return invalidTexts(`spec.clusterIPs[${index}]`, clusterIPs, `${family} is not configured on this cluster`)
}
