import { packages } from '../api/packages.ts'
import { hasMembers } from '../json/member.ts'
import { chooseAlternative, type Place, placeFinder, type Struct } from '../kind/field-places.ts'
import type { Printable } from '../kind/kind-readers.ts'
import { type Field, hasType, packageOf, resolveNode } from '../schema/index.ts'

/** Fields whose empty list or map is printed. */
const placeOf = placeFinder((field): field is Field => {
  if (field.pointer === true || (field.required !== true && field.keepEmpty !== true)) return false
  const { kind } = resolveNode(field.node)
  return kind === 'list' || kind === 'map'
})

/**
 * Replaces each empty list that is printed by null; undefined if the type has no such list. kube-apiserver reads
 * objects from Protobuf, in which empty and absent lists are the same. Kinds that it stores as JSON keep empty lists.
 */
export function emptyListsRemover(type: string): Printable | undefined {
  if (!hasType(type) || packages[packageOf(type)]?.isStoredAsJson) return undefined
  const place = placeOf(type)
  return place === undefined ? undefined : <T extends Struct>(object: T, printed?: Struct) => without(place, object, printed) as T
}

/** `printed` is the value at the same place in a printed object. */
function without(place: Place, value: unknown, printed: unknown): unknown {
  if (value === printed || !hasMembers(value)) return value
  const before = hasMembers(printed) ? printed : nothing
  if (place.kind === 'either') {
    const chosen = chooseAlternative(place, value)
    return chosen === undefined ? value : without(chosen, value, before)
  }
  if (Array.isArray(value)) return place.kind === 'each' ? withoutInItems(place.of, value, before) : value
  return place.kind === 'each' ? withoutInMap(place.of, value, before) : withoutInStruct(place, value, before)
}

const nothing: Struct = Object.freeze({})

function withoutInItems(of: Place, items: readonly unknown[], printed: Struct): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let index = 0; index < items.length; index++) {
    const kept = without(of, items[index], printed[index])
    if (kept === items[index]) continue
    copy ??= items.slice()
    copy[index] = kept
  }
  return copy ?? items
}

function withoutInMap(of: Place, members: Struct, printed: Struct): Struct {
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [key, without(of, member, printed[key])]))
}

function withoutInStruct({ fields, inner }: Extract<Place, { kind: 'struct' }>, struct: Struct, printed: Struct): Struct {
  let copy: Record<string, unknown> | undefined
  for (const { name } of fields) {
    if (!isEmpty(struct[name])) continue
    copy ??= { ...struct }
    copy[name] = null
  }
  // Not `for (const name in struct)`: V8 would compile that loop again for each shape of the structs.
  for (const name of Object.keys(struct)) {
    const value = struct[name]
    if (value === printed[name] || !hasMembers(value)) continue
    const place = inner(name)
    if (place === undefined) continue
    const kept = without(place, value, printed[name])
    if (kept === value) continue
    copy ??= { ...struct }
    copy[name] = kept
  }
  return copy ?? struct
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : hasMembers(value) && Object.keys(value).length === 0
}
