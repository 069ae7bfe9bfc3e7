import type { FieldError } from '@orch/core/meta'
import { invalidTexts, ipFamilyOf } from '@orch/core/validation'
import type { ServiceSpec } from './reserved-keys.ts'

export type IpFamily = 'IPv4' | 'IPv6'

/** The fields that determine the address families of a Service. */
export type FamilySpec = Pick<ServiceSpec, 'clusterIP' | 'clusterIPs' | 'ipFamilies' | 'ipFamilyPolicy' | 'selector'>

export interface Families {
  readonly ipFamilies: readonly string[]
  readonly ipFamilyPolicy: string
  /** The errors of requests that this server cannot fulfil; empty for none. */
  readonly errors: readonly FieldError[]
}

const policyField = 'spec.ipFamilyPolicy'

/** The families that a Service has on a server with addresses of one family. */
export function familiesOf(spec: FamilySpec, before: FamilySpec, own: IpFamily): Families {
  const isDetached = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0
  const ipFamilyPolicy = spec.ipFamilyPolicy ?? before.ipFamilyPolicy ?? (isDetached ? 'RequireDualStack' : 'SingleStack')
  const addresses = (spec.clusterIPs ?? []).filter((address) => address !== 'None')
  const given = spec.ipFamilies ?? []
  const inferred = addresses.slice(given.length).map((address) => ipFamilyOf(address) ?? own)
  const ipFamilies = [...given, ...inferred]
  const settled = (families: readonly string[], errors: readonly FieldError[] = []) => ({ ipFamilies: families, ipFamilyPolicy, errors })
  const contradictions = [
    ...(ipFamilyPolicy === 'SingleStack' ? refuseSecond(addresses, given, ipFamilyPolicy) : []),
    ...inferred.flatMap((family, index) => (family === own ? [] : [notConfigured(spec, given.length + index, family)])),
  ]
  if (contradictions.length > 0) return settled(ipFamilies, contradictions)
  const families = ipFamilies.length === 0 ? [own] : ipFamilies
  // Its addresses come from its writer, and may have other families than the server's.
  if (isDetached)
    return settled(
      ipFamilyPolicy !== 'SingleStack' && families.length === 1 ? [...families, families[0] === 'IPv4' ? 'IPv6' : 'IPv4'] : families,
    )
  return settled(families, [
    ...(ipFamilyPolicy === 'RequireDualStack'
      ? [invalid(policyField, ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, index) =>
      family === own ? [] : [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ])
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

function notConfigured({ clusterIPs = [] }: FamilySpec, index: number, family: string): FieldError {
  return invalidTexts(`spec.clusterIPs[${index}]`, clusterIPs, `${family} is not configured on this cluster`)
}
