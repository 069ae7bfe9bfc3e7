import { at } from '@orch/cel/at'
import { hasMembers, setMember } from './member.ts'

/** Values deeper than this are not shared; described types are never as deep. */
const sharedDepthMax = 64

/**
 * Returns `before` if both values are equal including member order. Otherwise replaces equal parts of `value` by those of `before`,
 * in place; parts that differ must belong to the caller.
 */
export function shareWith<T>(value: T, before: unknown, depth = 0): T {
  if (value === before || !hasMembers(value) || !hasMembers(before) || depth > sharedDepthMax) return value
  if (Array.isArray(value) !== Array.isArray(before)) return value
  const own = Object.keys(value)
  const former = Object.keys(before)
  let isSame = own.length === former.length
  for (let index = 0; index < own.length; index++) {
    const key = at(own, index)
    if (key !== former[index]) isSame = false
    const member = value[key]
    const kept = Object.hasOwn(before, key) ? shareWith(member, before[key], depth + 1) : member
    if (kept !== member) setMember(value, key, kept)
    if (kept !== before[key]) isSame = false
  }
  // Equal JSON has the type of the value.
  return isSame ? (before as T) : value
}
