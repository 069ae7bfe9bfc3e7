import { boundedMemo } from '../../memo.ts'
import { templateShapes } from './template-shapes.ts'

/** A field of a Go struct. */
export interface FieldShape {
  readonly goName: string
  readonly type: string
  /** Undefined for an embedded struct. */
  readonly jsonName: string | undefined
}

const structs = /^(\S+):((?: [^\n]*)(?:\n {2}[^\n]*)*)/gm

/** The structs of a Pod template at a level, such as 37 for 1.37, by name. */
export const structShapesAt = boundedMemo(16, (level: number): ReadonlyMap<string, readonly FieldShape[]> => {
  const shapes = new Map<string, readonly FieldShape[]>()
  for (const [, name = '', fields = ''] of templateShapes.matchAll(structs)) {
    const found = fields.split(';').flatMap((field) => toShape(field.trim().split(/\s+/), level))
    shapes.set(name, found)
  }
  return shapes
})

/** Empty if the level lacks the field. */
function toShape(words: readonly string[], level: number): FieldShape[] {
  const [goName = '', type = '', ...rest] = words
  const range = /^(\d+)(?:\+|\.\.(\d+))$/.exec(rest.at(-1) ?? '')
  if (range !== null && (level < Number(range[1]) || level > Number(range[2] ?? level))) return []
  const jsonName = range?.[0] === rest[0] ? undefined : rest[0]
  return [{ goName, type, jsonName }]
}
