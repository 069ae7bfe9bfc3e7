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

/** An object on its way into storage, and the one that it replaces. */
export interface ObjectCandidate {
  readonly object: Json
  readonly old?: Json | undefined
  /** The validated part: a write of the status is validated by the schema of the status alone. */
  readonly part?: 'main' | 'status'
  readonly scale?: ScalePaths | undefined
  readonly comparisons?: ComparisonTimer | undefined
  /** Minor number of the release whose rules they are. */
  readonly level: number
}

/** The errors of an object of a custom kind besides its own metadata and the rules of its schema. */
export function validateCustomObject(schema: StructuralSchema, candidate: ObjectCandidate): FieldError[] {
  const { object, old, part, scale, comparisons, level } = candidate
  const replaced = old === undefined ? undefined : { value: old, comparisons }
  const errors = part === 'status' ? errorsOfStatus(schema, object, replaced) : validateValue(schema, object, replaced)
  if (scale !== undefined) errors.push(...validateScale(object, scale))
  errors.push(...validateEmbedded(schema, object, { path: '', level }))
  // Lists that were wrong before may stay so.
  const ofLists = validateListTypes(schema, object)
  if (ofLists.length > 0 && (old === undefined || validateListTypes(schema, old).length === 0)) errors.push(...ofLists)
  return errors
}

/** Messages name the path below the status, fields the whole path. */
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

/** After such errors rules are not evaluated: they rely on types and bounds. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** The error that tells that rules were not evaluated; undefined where they can be. */
export function blockingError(errors: readonly FieldError[]): FieldError | undefined {
  if (!errors.some(({ reason }) => blocking.has(reason))) return undefined
  const text = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  return invalidValue(noField, null, text)
}
