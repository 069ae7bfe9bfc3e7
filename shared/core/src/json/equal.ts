import { isJsonObject } from './member.ts'

/** Whether two JSON values are the same, whatever the order of members. Depth costs memory and no call stack. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  const pending: [unknown, unknown][] = [[left, right]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false
      for (const [index, item] of a.entries()) pending.push([item, b[index]])
    } else if (isJsonObject(a) && isJsonObject(b)) {
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        pending.push([a[key], b[key]])
      }
    } else {
      return false
    }
  }
  return true
}
