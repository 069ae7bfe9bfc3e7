import { hasMembers } from './member.ts'

/**
 * Freezes a value deeply; a frozen part is taken to be frozen within. Depth costs memory and no call stack.
 */
export function freezeDeeply<T>(value: T): T {
  const pending: object[] = []
  take(value, pending)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const member of Object.values(next)) take(member, pending)
  }
  return value
}

function take(value: unknown, pending: object[]): void {
  if (!hasMembers(value) || Object.isFrozen(value)) return
  Object.freeze(value)
  pending.push(value)
}
