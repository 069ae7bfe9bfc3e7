import { Numeral } from './numeral.ts'

/** True for a JSON object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Numeral)
}

/** True for a JSON object or a list. */
export function hasMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** True for a list of texts. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** True for an object whose members are texts. */
export function isTextMap(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string')
}

/** The JSON objects of a list; empty if the value is no list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** A deep copy. It uses its own stack, since a value may be deeper than the call stack. */
export function copyValue(value: unknown, onMembers?: (count: number) => void): unknown {
  const pending: (Record<string, unknown> | unknown[])[] = []
  const own = (member: unknown): unknown => {
    if (!Array.isArray(member) && !isJsonObject(member)) return member
    onMembers?.(Array.isArray(member) ? member.length : Object.keys(member).length)
    const copy = Array.isArray(member) ? [...member] : { ...member }
    pending.push(copy)
    return copy
  }
  const whole = own(value)
  for (let copy = pending.pop(); copy !== undefined; copy = pending.pop()) {
    if (Array.isArray(copy)) for (const [index, item] of copy.entries()) copy[index] = own(item)
    else for (const key of Object.keys(copy)) setMember(copy, key, own(copy[key]))
  }
  return whole
}

/** The order of texts by their code units, for `sort`. */
export function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** The path of a member: `spec` and `replicas` give `spec.replicas`. */
export function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** The object's own member; undefined if it has none, including for names such as `constructor`. */
export function memberOf(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** The member of a value; undefined if the value is no object. */
export function memberIn(value: unknown, key: string): unknown {
  return isJsonObject(value) ? value[key] : undefined
}

/** Sets a member, even if its name is `__proto__`. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
