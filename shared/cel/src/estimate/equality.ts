import { at } from '../at.ts'
import type { CallEstimate, CallSizes } from '../library.ts'
import { printType } from '../types.ts'
import { fixed, perElement, scale } from './bounds.ts'
import { compares } from './calls.ts'

/** Longest name of a format that equality reads. */
const formatSizeMax = 64n

/** Types whose comparison always costs 1. */
const comparedAtOnce = new Set([
  'net.IP',
  'net.CIDR',
  'kubernetes.Quantity',
  'kubernetes.Semver',
  'kubernetes.authorization.Authorizer',
  'kubernetes.authorization.PathCheck',
  'kubernetes.authorization.GroupCheck',
  'kubernetes.authorization.ResourceCheck',
  'kubernetes.authorization.Decision',
])

/** An estimate for `==`. It depends on the type if both sides have the same type. */
export function equals(call: CallSizes): CallEstimate {
  const left = at(call.args, 0)
  const right = at(call.args, 1)
  const name = left.type.kind === 'object' || left.type.kind === 'opaque' ? left.type.name : ''
  if (name === '' || printType(left.type) !== printType(right.type)) return compares(call)
  if (comparedAtOnce.has(name)) return { cost: fixed(1n) }
  if (name === 'kubernetes.NamedFormat') return { cost: scale({ min: 1n, max: formatSizeMax }, perElement) }
  if (name !== 'kubernetes.URL') return compares(call)
  return { cost: scale({ min: 1n, max: right.isSized ? right.size.max : 1n }, perElement) }
}
