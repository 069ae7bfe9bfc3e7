import { hasMembers, isJsonObject } from './member.ts'
import { Numeral } from './numeral.ts'

/** True if two JSON values are equal, ignoring the order of members. Uses heap memory instead of the call stack for depth. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (!hasMembers(left) || !hasMembers(right)) return left === right
  const pending: [unknown, unknown][] = [[left, right]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false
      for (const [index, item] of a.entries()) if (item !== b[index]) pending.push([item, b[index]])
    } else if (isJsonObject(a) && isJsonObject(b)) {
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        if (a[key] !== b[key]) pending.push([a[key], b[key]])
      }
    } else if (!(a instanceof Numeral) || !(b instanceof Numeral) || a.literal !== b.literal) {
      return false
    }
  }
  return true
}

/** Values deeper than this count as different. */
const comparedDepthMax = 64

/** True if two JSON values print the same text; false for values that are too deep. */
export function haveSameText(left: unknown, right: unknown, depth = 0): boolean {
  if (left === right) return true
  if (!hasMembers(left) || !hasMembers(right) || depth > comparedDepthMax || Array.isArray(left) !== Array.isArray(right)) return false
  const names = Object.keys(right)
  let count = 0
  for (const name in left) {
    if (name !== names[count] || !haveSameText(left[name], right[name], depth + 1)) return false
    count += 1
  }
  return count === names.length
}
