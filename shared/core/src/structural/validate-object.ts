import { isJsonObject } from '../json/member.ts'
import type { ComparisonTimer } from '../kind/kind-readers.ts'
import type { ScalePaths } from '../kind/resource.ts'
import type { FieldError } from '../meta/status.ts'
import { invalidValue } from '../schema/field-errors.ts'
import { type ReplacedValue, validateValue } from './check-value.ts'
import { validateEmbedded } from './embedded.ts'
import { noField } from './field-path.ts'
import { validateListTypes } from './list-types.ts'
import { validateScale } from './scale.ts'
import type { StructuralSchema } from './schema.ts'

type Json = Readonly<Record<string, unknown>>

/** A new object, and the replaced one. */
export interface ObjectCandidate {
  readonly object: Json
  readonly old?: Json | undefined
  /** The part to validate: a write of the status is validated only by the schema of the status. */
  readonly part?: 'main' | 'status'
  readonly scale?: ScalePaths | undefined
  readonly comparisons?: ComparisonTimer | undefined
  /** The minor version of the release whose rules apply. */
  readonly level: number
}

/** The errors of a custom object, except in its metadata and from its CEL rules. */
export function validateCustomObject(schema: StructuralSchema, candidate: ObjectCandidate): FieldError[] {
  const { object, old, part, scale, comparisons, level } = candidate
  const replaced = old === undefined ? undefined : { value: old, comparisons }
  const errors = part === 'status' ? errorsOfStatus(schema, object, replaced) : validateValue(schema, object, replaced)
  if (scale !== undefined) errors.push(...validateScale(object, scale))
  errors.push(...validateEmbedded(schema, object, { path: '', level }))
  // Lists that were invalid before may stay invalid.
  const ofLists = validateListTypes(schema, object)
  if (ofLists.length > 0 && (old === undefined || validateListTypes(schema, old).length === 0)) errors.push(...ofLists)
  return errors
}

/** Messages contain the path below the status, `field` the whole path. */
function errorsOfStatus(schema: StructuralSchema, { status }: Json, old: ReplacedValue | undefined): FieldError[] {
  const ofStatus = schema.properties?.get('status')
  if (ofStatus === undefined || status === undefined) return []
  const replaced = old === undefined || !isJsonObject(old.value) ? undefined : { ...old, value: old.value['status'] }
  return validateValue(ofStatus, status, replaced).map((error) => ({ ...error, field: statusField(error) }))
}

function statusField({ field }: FieldError): string {
  if (field === noField) return 'status'
  return `status${field.startsWith('[') ? '' : '.'}${field}`
}

/** Errors after which CEL rules are not evaluated, because the rules rely on types and limits. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** The error that states that rules were not evaluated; undefined if they can be. */
export function blockingError(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some(({ reason }) => blocking.has(reason))) return undefined
  const text = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  return invalidValue(noField, null, text)
}
