import { limits } from '../limits.ts'

/** True if a value has more members and items than a body may have. */
export function hasTooManyValues(value: unknown): boolean {
  const waiting = [value]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue
    const inner = Object.values(next)
    count += inner.length
    if (count > limits.bodyValuesMax) return true
    for (const one of inner) if (typeof one === 'object' && one !== null) waiting.push(one)
  }
  return false
}
