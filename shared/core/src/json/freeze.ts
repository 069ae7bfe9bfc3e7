import { hasMembers } from './member.ts'

/**
 * Freezes a value deeply. An already frozen part is assumed to be frozen inside. Uses heap memory instead of the call stack for depth.
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
