import type { Field, Inlined, StructNode } from '../description/node.ts'

/** A field with a place on the wire. */
export interface WireField {
  readonly tag: number
  readonly field: Field
}

/** Fields that are flat in JSON and in a separate message on the wire. */
interface WireGroup extends WireStruct {
  readonly tag: number
}

/** The wire form of a struct. */
export interface WireStruct {
  readonly fields: readonly WireField[]
  readonly groups: readonly WireGroup[]
}

/** Separates a struct's own fields from inlined structs. */
export function wireStructOf(node: StructNode): WireStruct {
  return structOf(node.fields.flatMap((field) => (field.tag === undefined ? [] : [{ tag: field.tag, field, at: field.inlined }])))
}

function structOf(placed: readonly (WireField & { readonly at: Inlined | undefined })[]): WireStruct {
  const fields = placed.flatMap(({ tag, field, at }) => (at === undefined ? [{ tag, field }] : []))
  const inlined = placed.flatMap(({ at, ...rest }) => (at === undefined ? [] : [{ group: at.tag, one: { ...rest, at: at.inner } }]))
  const groups = Map.groupBy(inlined, ({ group }) => group)
  return { fields, groups: [...groups].map(([tag, inner]) => ({ tag, ...structOf(inner.map(({ one }) => one)) })) }
}
