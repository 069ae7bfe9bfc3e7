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
  if (!Array.isArray(value)) throw new MalformedPatch('expected a list in the patch')
  return value
}

/** A part of the patch that has no counterpart to merge with, without nulls, directives and items that are directives. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !(isJsonObject(item) && patchMarker in item)).map(withoutDirectives)
  if (!isJsonObject(value)) return value
  const kept: JsonObject = {}
  if (isDeletion(value)) return kept
  for (const key of Object.keys(value)) {
    const isDirective =
      key === patchMarker || key === retainMarker || key.startsWith(`${deletePrefix}/`) || key.startsWith(`${orderPrefix}/`)
    if (value[key] !== null && !isDirective) setMember(kept, key, withoutDirectives(value[key]))
  }
  return kept
}

/** True if an item of a patch deletes its counterpart. */
export function isDeletion(value: unknown): boolean {
  return isJsonObject(value) && value[patchMarker] === 'delete'
}
