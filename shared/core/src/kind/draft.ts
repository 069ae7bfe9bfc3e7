import { isJsonObject } from '../json/member.ts'

/**
 * An object under construction: decoded, and about to be completed in place. Parts that are shared with another object
 * are frozen. The functions below replace a frozen part by a copy that the caller may change.
 */
export type Draft = Record<string, unknown>

/** The mutable object in a field, if present. */
export function child(parent: Draft | undefined, name: string): Draft | undefined {
  const value = parent?.[name]
  if (parent === undefined || !isJsonObject(value)) return undefined
  if (!Object.isFrozen(value)) return value
  const own = { ...value }
  parent[name] = own
  return own
}

/** The mutable objects of a list field; empty if absent. */
export function children(parent: Draft | undefined, name: string): Draft[] {
  const value = parent?.[name]
  if (parent === undefined || !Array.isArray(value)) return []
  if (!value.some((item) => Object.isFrozen(item))) return value
  const own = value.map((item) => (isJsonObject(item) && Object.isFrozen(item) ? { ...item } : item))
  parent[name] = own
  return own
}

/** The object in a field, if present, for reading only; it may be frozen. */
export function readMember(parent: Readonly<Draft> | undefined, name: string): Readonly<Draft> | undefined {
  const value = parent?.[name]
  return isJsonObject(value) ? value : undefined
}

/** The objects of a list field, for reading only; empty if absent. */
export function readItems(parent: Readonly<Draft> | undefined, name: string): readonly Readonly<Draft>[] {
  const value = parent?.[name]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The mutable object in a field, created if absent. */
export function ensureChild(parent: Draft, name: string): Draft {
  const present = child(parent, name)
  if (present !== undefined) return present
  const made: Draft = {}
  parent[name] = made
  return made
}

/** Sets values of absent fields. An empty text counts as a value, for fields that can be absent. */
export function fill(draft: Draft | undefined, values: Draft): void {
  if (draft === undefined) return
  for (const name of Object.keys(values)) if (draft[name] === undefined || draft[name] === null) draft[name] = values[name]
}

/** Like `fill`, for fields whose empty text means absent. */
export function fillEmpty(draft: Draft | undefined, values: Draft): void {
  if (draft === undefined) return
  for (const name of Object.keys(values)) if (isNothing(draft[name])) draft[name] = values[name]
}

/** True if a map or list field is absent or empty. */
export function isEmptyField(draft: Draft, name: string): boolean {
  const value = draft[name]
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}
