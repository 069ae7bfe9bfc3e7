import { isJsonObject } from '../json/member.ts'

/** A decoded object for validation. */
export type Part = Readonly<Record<string, unknown>>

/** The object in a field; empty if absent. */
export function partOf(parent: Part | undefined, name: string): Part {
  return optionalPart(parent, name) ?? {}
}

/** The object in a field; undefined if absent. */
export function optionalPart(parent: Part | undefined, name: string): Part | undefined {
  const value = parent?.[name]
  return isJsonObject(value) ? value : undefined
}

/** The items of a list field; empty if absent. */
export function itemsOf<T = Part>(parent: Part | undefined, name: string): readonly T[] {
  const value = parent?.[name]
  return Array.isArray(value) ? value : []
}

/** The text in a field; `''` if absent. */
export function textOf(parent: Part | undefined, name: string): string {
  const value = parent?.[name]
  return typeof value === 'string' ? value : ''
}

/**
 * True if two decoded values are stored alike: ignoring the order of members, with empty lists equal to null and undefined members
 * equal to absent ones. Uses heap memory instead of the call stack for depth.
 */
export function isSame(left: unknown, right: unknown): boolean {
  const pending: unknown[] = [left, right]
  while (pending.length > 0) {
    const b = asStored(pending.pop())
    const a = asStored(pending.pop())
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
      for (let index = 0; index < a.length; index++) pending.push(a[index], b[index])
    } else if (!pushMembers(a as Part, b as Part, pending)) return false
  }
  return true
}

/** Adds the members of two maps that remain to be compared. False if one lacks a member of the other. */
function pushMembers(a: Part, b: Part, pending: unknown[]): boolean {
  let count = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    if (b[key] === undefined || !Object.hasOwn(b, key)) return false
    pending.push(a[key], b[key])
    count += 1
  }
  for (const key in b) if (b[key] !== undefined) count -= 1
  return count === 0
}

/** An empty list is stored as null. */
function asStored(value: unknown): unknown {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? null : value
}

/** Indexes of the items that duplicate an earlier item. It takes one pass, since lists may have tens of thousands of items. */
export function repeatedPlaces(items: readonly unknown[]): ReadonlySet<number> {
  const known = new Set<string>()
  const repeated = new Set<number>()
  for (const [index, item] of items.entries()) {
    const text = print(item)
    if (known.has(text)) repeated.add(index)
    else known.add(text)
  }
  return repeated
}

/** The texts of a field in all items of a list. */
export function textsOf(items: readonly Part[], name: string): ReadonlySet<string> {
  return new Set(items.map((item) => textOf(item, name)))
}

/** A text that is equal for equal values. */
export function print(value: unknown): string {
  return JSON.stringify(value ?? null, (_, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`
    // An empty list is stored as null.
    if (Array.isArray(member) && member.length === 0) return null
    const isMap = typeof member === 'object' && member !== null && !Array.isArray(member)
    return isMap ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member
  })
}
