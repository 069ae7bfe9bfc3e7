import type { FieldSet } from './field-set.ts'
import { hasOutline, type Outline, outlineOf } from './outline.ts'
import type { Shape } from './shape.ts'

/** The fields that a new object's creator owns, as `fieldsV1`, with the facts that they depend on. */
interface CreatedFields {
  readonly outline: Outline
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
  /** Undefined if the creator owns no fields. */
  readonly fields: Record<string, unknown> | undefined
}

/** A new object, with the inputs for finding its owned fields. */
export interface CreatedObject {
  readonly shape: Shape
  readonly object: unknown
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
}

/** Number of cached entries per shape: most objects of a kind are created from a few templates. */
const keptPerShape = 4

const createdFields = new WeakMap<Shape, CreatedFields[]>()

/** The fields of an earlier object with the same outline; undefined if the cache has none. */
export function findCreatedFields({ shape, object, blank, resetFields }: CreatedObject): Pick<CreatedFields, 'fields'> | undefined {
  return createdFields.get(shape)?.find((one) => one.blank === blank && one.resetFields === resetFields && hasOutline(one.outline, object))
}

/** Caches the fields of an object, for later objects of the same outline. */
export function keepCreatedFields({ shape, object, blank, resetFields }: CreatedObject, fields: CreatedFields['fields']): void {
  const outline = outlineOf(shape, object, blank)
  if (outline === undefined) return
  const kept = createdFields.get(shape)?.slice(0, keptPerShape - 1) ?? []
  createdFields.set(shape, [{ outline, blank, resetFields, fields }, ...kept])
}
