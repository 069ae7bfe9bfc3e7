import { looseTypeName } from '../json/go-text.ts'
import { isJsonObject, setMember } from '../json/member.ts'

export type JsonObject = Record<string, unknown>

export const patchMarker = '$patch'
export const retainMarker = '$retainKeys'
export const deletePrefix = '$deleteFromPrimitiveList'
export const orderPrefix = '$setElementOrder'

/** The patch cannot be applied to the live object. */
export class BadPatch extends Error {}
/** The patch is malformed, regardless of the live object. */
export class MalformedPatch extends Error {}

const formats: Readonly<Record<string, string>> = {
  [deletePrefix]: 'invalid patch format of primitive list',
  [orderPrefix]: 'invalid patch format of setElementOrder list',
}

/** The field of a directive: `x` for `$setElementOrder/x`. */
export function keyOf(directive: string, prefix: string): string {
  const key = directive.slice(prefix.length + 1)
  if (directive[prefix.length] !== '/' || key === '') throw new MalformedPatch(formats[prefix])
  return key
}

/** The value as a list; throws for other types. */
export function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  const given = value === null ? `%!s(${looseTypeName(value)})` : looseTypeName(value)
  throw new BadPatch(`expected a []interface {}, but received a ${given}`)
}

/**
 * A part of the patch that has no counterpart to merge with, without nulls and without objects that have the directive `$patch`.
 * Undefined if the part itself has it. Other directives become fields, which the type of the object does not have.
 */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((item) => item !== undefined)
  if (!isJsonObject(value)) return value
  if (Object.hasOwn(value, patchMarker)) return undefined
  const kept: JsonObject = {}
  for (const key of Object.keys(value)) {
    const inner = withoutDirectives(value[key])
    if (inner !== null && inner !== undefined) setMember(kept, key, inner)
  }
  return kept
}

/** True if an item of a patch deletes its counterpart. */
export function isDeletion(value: unknown): boolean {
  return isJsonObject(value) && value[patchMarker] === 'delete'
}
