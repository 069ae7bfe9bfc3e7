import { isJsonObject } from '../json/member.ts'

/**
 * An object that is still being made: decoded, and about to be completed in place. Parts of it may belong to another object as well; these
 * are frozen. Who reaches a part by the functions below gets one that is the draft's own, and may change it.
 */
export type Draft = Record<string, unknown>

/** The object in a field, if there is one: the draft's own from then on. */
export function child(parent: Draft | undefined, name: string): Draft | undefined {
  const value = parent?.[name]
  if (parent === undefined || !isJsonObject(value)) return undefined
  if (!Object.isFrozen(value)) return value
  const own = { ...value }
  parent[name] = own
  return own
}

/** The objects of a list field, the draft's own from then on; none when it is absent. */
export function children(parent: Draft | undefined, name: string): Draft[] {
  const value = parent?.[name]
  if (parent === undefined || !Array.isArray(value)) return []
  if (!value.some((item) => Object.isFrozen(item))) return value
  const own = value.map((item) => (isJsonObject(item) && Object.isFrozen(item) ? { ...item } : item))
  parent[name] = own
  return own
}

/** The object in a field, if there is one, to look at: it may be frozen. */
export function readMember(parent: Readonly<Draft> | undefined, name: string): Readonly<Draft> | undefined {
  const value = parent?.[name]
  return isJsonObject(value) ? value : undefined
}

/** The objects of a list field, to look at; none when it is absent. */
export function readItems(parent: Readonly<Draft> | undefined, name: string): readonly Readonly<Draft>[] {
  const value = parent?.[name]
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** The object in a field, put there when it is absent. */
export function ensureChild(parent: Draft, name: string): Draft {
  const present = child(parent, name)
  if (present !== undefined) return present
  const made: Draft = {}
  parent[name] = made
  return made
}

/** Gives absent fields a value. An empty text counts as a value: it is one for fields that may also be absent. */
export function fill(draft: Draft | undefined, values: Draft): void {
  if (draft === undefined) return
  for (const name of Object.keys(values)) if (draft[name] === undefined || draft[name] === null) draft[name] = values[name]
}

/** As `fill`, for fields whose empty text means that nothing was said. */
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
