import type { FieldError } from '../../meta/status.ts'
import { immutableValue, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { cidrFamilyOf, type IpFamily } from '../../validation/ip-address.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { numberOf } from './checks.ts'

const hostBitsMin = 4
const addressBits = { IPv4: 32, IPv6: 128 } as const

/** The rules of a ClusterCIDR: each of its networks must have enough addresses for one node. */
export function validateClusterCidr(cidr: Part, live: Part | undefined): FieldError[] {
  const spec = partOf(cidr, 'spec')
  const given = (['IPv4', 'IPv6'] as const).filter((family) => textOf(spec, family.toLowerCase()) !== '')
  const errors = given.flatMap((family) => validateNetwork(spec, family))
  if (given.length === 0) errors.push(requiredValue('spec', 'one or both of `ipv4` and `ipv6` must be specified'))
  if (live === undefined) return errors
  const before = partOf(live, 'spec')
  const fields = ['nodeSelector', 'perNodeHostBits', 'ipv4', 'ipv6']
  return [...errors, ...fields.flatMap((field) => immutableValue(`spec.${field}`, spec[field], before[field]))]
}

function validateNetwork(spec: Part, family: IpFamily): FieldError[] {
  const text = textOf(spec, family.toLowerCase())
  const found = cidrFamilyOf(text)
  if (found === undefined) return [invalidValue(`spec.${family}`, text, `must be a valid CIDR: ${text}`)]
  if (found !== family) return [invalidValue(`spec.${family}`, text, `must be a valid ${family} CIDR`)]
  const bits = numberOf(spec, 'perNodeHostBits') ?? 0
  const bitsMax = addressBits[family] - Number(text.slice(text.indexOf('/') + 1))
  if (bits < hostBitsMin) return [invalidValue('spec.perNodeHostBits', bits, `must be greater than or equal to ${hostBitsMin}`)]
  return bits > bitsMax ? [invalidValue('spec.perNodeHostBits', bits, `must be less than or equal to ${bitsMax}`)] : []
}
