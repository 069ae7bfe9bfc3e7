import { at } from '@orch/cel/at'
import { hasMembers, setMember } from './member.ts'

/** Values deeper than this are not shared; described types are never as deep. */
const sharedDepthMax = 64

/**
 * Returns `before` if both values are equal including member order. Otherwise returns the value with equal parts replaced by those of `before`. Neither
 * value is changed, so both may be frozen.
 */
export function shareWith<T>(value: T, before: unknown, depth = 0): T {
  if (value === before || !hasMembers(value) || !hasMembers(before) || depth > sharedDepthMax) return value
  if (Array.isArray(value) !== Array.isArray(before)) return value
  const own = Object.keys(value)
  const former = Object.keys(before)
  let isSame = own.length === former.length
  let replaced: [string, unknown][] | undefined
  for (let index = 0; index < own.length; index++) {
    const key = at(own, index)
    if (key !== former[index]) isSame = false
    const member = value[key]
    const part = Object.hasOwn(before, key) ? shareWith(member, before[key], depth + 1) : member
    if (part !== before[key]) isSame = false
    if (part === member) continue
    replaced ??= []
    replaced.push([key, part])
  }
  // Equal JSON has the type of the value.
  if (isSame) return before as T
  if (replaced === undefined) return value
  const copy: Record<string, unknown> = Array.isArray(value) ? Object.assign([], value) : { ...value }
  for (const [key, part] of replaced) setMember(copy, key, part)
  return copy as T
}
