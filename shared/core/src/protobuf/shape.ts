import type { Field, StructNode } from '../schema/node.ts'

/** A field that has a place on the wire. */
export interface WireField {
  readonly tag: number
  readonly field: Field
}

/** Fields that are flat in JSON and lie in a message of their own on the wire. */
interface WireGroup {
  readonly tag: number
  readonly fields: readonly WireField[]
}

/** What a struct looks like on the wire. */
export interface WireStruct {
  readonly fields: readonly WireField[]
  readonly groups: readonly WireGroup[]
}

/** Tells a struct's own fields from those that an inlined struct takes along. */
export function wireStructOf(node: StructNode): WireStruct {
  const fields: WireField[] = []
  const groups = new Map<number, WireField[]>()
  for (const field of node.fields) {
    if (field.tag === undefined) continue
    const wireField = { tag: field.tag, field }
    if (field.inlined === undefined) fields.push(wireField)
    else groups.set(field.inlined.tag, [...(groups.get(field.inlined.tag) ?? []), wireField])
  }
  return { fields, groups: [...groups].map(([tag, inner]) => ({ tag, fields: inner })) }
}
