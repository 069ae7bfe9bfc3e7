import { hasMembers, setMember } from './member.ts'

/** Deeper values are printed. */
const copiedDepthMax = 64

/**
 * The value that printing as JSON and parsing would give, without either. Frozen parts must be frozen deeply and read from JSON; they are shared.
 * Undefined for a value that may read back as another one, such as a Date, an integer beyond 2^53 or half of a surrogate pair.
 */
export function plainCopy(value: unknown): unknown {
  return copyAt(value, 0)
}

function copyAt(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : undefined
    case 'boolean':
      return value
    case 'number':
      // A sum with 0 is never -0.
      return Number.isSafeInteger(value) ? value + 0 : undefined
    case 'object':
      if (!hasMembers(value) || Object.isFrozen(value)) return value
      if (depth === copiedDepthMax) return undefined
      return Array.isArray(value) ? copyOfList(value, depth + 1) : copyOfObject(value, depth + 1)
    default:
      return undefined
  }
}

function copyOfList(items: readonly unknown[], depth: number): unknown[] | undefined {
  const copy = new Array<unknown>(items.length)
  for (let index = 0; index < items.length; index++) {
    const item = copyAt(items[index], depth)
    if (item === undefined) return undefined
    copy[index] = item
  }
  return copy
}

function copyOfObject(members: Readonly<Record<string, unknown>>, depth: number): object | undefined {
  const prototype: unknown = Object.getPrototypeOf(members)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const copy: Record<string, unknown> = {}
  for (const name in members) {
    const member = members[name]
    if (member === undefined) continue
    const copied = copyAt(member, depth)
    if (copied === undefined || !name.isWellFormed()) return undefined
    setMember(copy, name, copied)
  }
  return copy
}
