import type { FieldSet } from './field-set.ts'
import { ownerElement, uidOfOnlyOwner, withOwnerInFields, withUidOfOwner } from './only-owner.ts'
import { hasOutline, type Outline, outlineOf } from './outline.ts'
import type { ElementText } from './path-element.ts'
import type { Shape } from './shape.ts'

/** Fields as `fieldsV1`; undefined if the creator owns none. */
type Fields = Record<string, unknown> | undefined

/** The fields that a new object's creator owns, with the facts that they depend on. The uid of an only owner is left out. */
interface CreatedFields {
  readonly outline: Outline
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
  readonly fields: Fields
  /** Fields of the last object with an owner, as most owners create several objects. */
  last?: { readonly owner: ElementText; readonly fields: Fields }
}

/** A new object, with the inputs for finding its owned fields. */
export interface CreatedObject {
  readonly shape: Shape
  readonly object: unknown
  readonly blank: unknown
  readonly resetFields: FieldSet | undefined
}

/** The fields of a new object. Equal objects with other owners have the fields `alike`, with another path element in the place of `owner`. */
export interface FoundFields {
  readonly fields: Fields
  readonly alike?: Exclude<Fields, undefined>
  readonly owner?: ElementText
}

/** Number of cached entries per shape: most objects of a kind are created from a few templates. */
const keptPerShape = 4

/** The owner in cached fields. */
export const anyOwner = ownerElement('')

const createdFields = new WeakMap<Shape, CreatedFields[]>()

/** The fields of an earlier object with the same outline, except for the uid of an only owner; undefined if the cache has none. */
export function findCreatedFields({ shape, object, blank, resetFields }: CreatedObject): FoundFields | undefined {
  const uid = uidOfOnlyOwner(object)
  const alike = withoutUid(object, uid)
  const isAlike = (one: CreatedFields) => one.blank === blank && one.resetFields === resetFields && hasOutline(one.outline, alike)
  const found = createdFields.get(shape)?.find(isAlike)
  if (found === undefined) return undefined
  const { fields } = found
  if (uid === undefined || fields === undefined) return { fields }
  const owner = ownerElement(uid)
  if (found.last?.owner !== owner) found.last = { owner, fields: withOwnerInFields(fields, anyOwner, owner) }
  return { fields: found.last.fields, alike: fields, owner }
}

/** Caches the fields of an object, for later objects of the same outline. */
export function keepCreatedFields({ shape, object, blank, resetFields }: CreatedObject, fields: Fields): void {
  const uid = uidOfOnlyOwner(object)
  const outline = outlineOf(shape, withoutUid(object, uid), blank)
  if (outline === undefined) return
  const kept = createdFields.get(shape)?.slice(0, keptPerShape - 1) ?? []
  const made = { outline, blank, resetFields }
  const owner = uid === undefined ? undefined : ownerElement(uid)
  if (owner === undefined || fields === undefined) createdFields.set(shape, [{ ...made, fields }, ...kept])
  else createdFields.set(shape, [{ ...made, fields: withOwnerInFields(fields, owner, anyOwner), last: { owner, fields } }, ...kept])
}

function withoutUid(object: unknown, uid: string | undefined): unknown {
  return uid === undefined ? object : withUidOfOwner(object, '')
}
