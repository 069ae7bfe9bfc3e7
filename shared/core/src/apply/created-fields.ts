import type { FieldSet } from './field-set.ts'
import { hasOutline, type Outline, outlineOf } from './outline.ts'
import type { Shape } from './shape.ts'

/** The fields that a new object's creator owns, as in `fieldsV1`, with everything that they depend on. */
interface CreatedFields {
  readonly outline: Outline
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
  /** Undefined: nothing. */
  readonly fields: Record<string, unknown> | undefined
}

/** A new object, with the inputs for finding its owned fields. */
export interface CreatedObject {
  readonly shape: Shape
  readonly object: unknown
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
}

/** Number of cached templates: objects of a kind mostly come from a few. */
const keptPerShape = 4

const createdFields = new WeakMap<Shape, CreatedFields[]>()

/** The fields that an object of the same outline had; undefined: none was created lately. */
export function findCreatedFields({ shape, object, blank, resetFields }: CreatedObject): Pick<CreatedFields, 'fields'> | undefined {
  return createdFields.get(shape)?.find((one) => one.blank === blank && one.resetFields === resetFields && hasOutline(one.outline, object))
}

/** Notes which fields an object had, for others like it. */
export function keepCreatedFields({ shape, object, blank, resetFields }: CreatedObject, fields: CreatedFields['fields']): void {
  const outline = outlineOf(shape, object, blank)
  if (outline === undefined) return
  const kept = createdFields.get(shape)?.slice(0, keptPerShape - 1) ?? []
  createdFields.set(shape, [{ outline, blank, resetFields, fields }, ...kept])
}
