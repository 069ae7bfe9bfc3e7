import { hasMembers } from './member.ts'

/**
 * Freezes a value with all that is in it; what is frozen already is taken to be frozen within. Depth costs memory and no call stack.
 */
export function freezeDeeply<T>(value: T): T {
  const pending: object[] = []
  take(value, pending)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) for (const item of next) take(item, pending)
    else for (const name in next) take((next as Record<string, unknown>)[name], pending)
  }
  return value
}

function take(value: unknown, pending: object[]): void {
  if (!hasMembers(value) || Object.isFrozen(value)) return
  Object.freeze(value)
  pending.push(value)
}
