import { memo } from '@orch/cel/memo'
import { isJsonObject } from '../json/member.ts'
import type { ComparisonTimer } from '../kind/kind-readers.ts'
import type { ScalePaths } from '../kind/resource.ts'
import type { FieldError } from '../meta/status.ts'
import { invalidValue } from '../schema/field-errors.ts'
import type { Steps } from '../steps.ts'
import { canonicalText } from './canonical.ts'
import { type ReplacedValue, validateValue } from './check-value.ts'
import { validateEmbedded } from './embedded.ts'
import { fieldError, invalid, noField } from './field-path.ts'
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
  /** False to report errors of unchanged values too, as without the gate `CRDValidationRatcheting`. Default: true. */
  readonly ratchets?: boolean
  /** The minor version of the release whose rules apply. */
  readonly level: number
}

/** The errors of a custom object, except in its metadata and from its CEL rules. */
export function* validateCustomObject(schema: StructuralSchema, candidate: ObjectCandidate): Steps<FieldError[]> {
  const { object, old, part, scale, comparisons, level, ratchets = true } = candidate
  const replaced = old === undefined || !ratchets ? undefined : { value: old, comparisons }
  const errors = yield* part === 'status' ? errorsOfStatus(schema, object, replaced) : validateValue(schema, object, replaced)
  if (scale !== undefined) errors.push(...validateScale(object, scale))
  errors.push(...validateEmbedded(schema, object, { path: '', level }))
  // Lists that were invalid before may stay invalid.
  const ofLists = validateListTypes(schema, object)
  if (ofLists.length > 0 && (old === undefined || validateListTypes(schema, old).length === 0)) errors.push(...ofLists)
  return errors
}

/** Messages contain the path below the status, `field` the whole path. */
function* errorsOfStatus(schema: StructuralSchema, { status }: Json, old: ReplacedValue | undefined): Steps<FieldError[]> {
  const ofStatus = schema.properties?.get('status')
  if (ofStatus === undefined || status === undefined) return []
  const replaced = old === undefined || !isJsonObject(old.value) ? undefined : { ...old, value: old.value['status'] }
  return (yield* validateValue(ofStatus, status, replaced)).map((error) => ({ ...error, field: statusField(error) }))
}

function statusField({ field }: FieldError): string {
  if (field === noField) return 'status'
  return `status${field.startsWith('[') ? '' : '.'}${field}`
}

/** Errors after which CEL rules are not evaluated, because the rules rely on types and limits. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

/** The first level at which a value outside its enum is such an error. */
const enumsBlockSince = 29

/** The error that states that rules were not evaluated; undefined if they can be. */
export function blockingError(errors: readonly FieldError[], level: number): FieldError | undefined {
  const isBlocking = ({ reason }: FieldError) => blocking.has(reason) || (reason === 'FieldValueNotSupported' && level >= enumsBlockSince)
  if (!errors.some(isBlocking)) return undefined
  const text = 'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  return invalidValue(noField, null, text)
}

/** Reports duplicate items in lists of type `set`, and duplicate keys in lists of type `map`. */
export function validateListTypes(schema: StructuralSchema, value: unknown, path = ''): FieldError[] {
  const errors: FieldError[] = []
  if (mayHaveLists(schema)) check(schema, value, path, errors)
  return errors
}

/** True if a schema may contain such lists; most subschemas do not. */
const mayHaveLists: (schema: StructuralSchema) => boolean = memo((schema: StructuralSchema) => {
  const { listType, items, additionalProperties, properties } = schema
  const has =
    listType === 'set' ||
    listType === 'map' ||
    (items !== undefined && mayHaveLists(items)) ||
    (typeof additionalProperties === 'object' && mayHaveLists(additionalProperties)) ||
    [...(properties?.values() ?? [])].some(mayHaveLists)
  return has
})

function check(schema: StructuralSchema, value: unknown, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) checkList(schema, value, path, errors)
  else if (isJsonObject(value)) checkObject(schema, value, path, errors)
}

function checkObject(schema: StructuralSchema, object: Readonly<Record<string, unknown>>, path: string, errors: FieldError[]): void {
  const { properties, additionalProperties } = schema
  for (const name in object) {
    const property = properties?.get(name)
    if (property !== undefined) {
      if (mayHaveLists(property)) check(property, object[name], path === '' ? name : `${path}.${name}`, errors)
    } else if (typeof additionalProperties === 'object' && mayHaveLists(additionalProperties)) {
      check(additionalProperties, object[name], `${path}[${name}]`, errors)
    }
  }
}

function checkList(schema: StructuralSchema, list: readonly unknown[], path: string, errors: FieldError[]): void {
  if (schema.listType === 'set') refuseRepeated(list, path, errors)
  if (schema.listType === 'map') checkKeys(schema.listMapKeys ?? [], list, path, errors)
  if (schema.items === undefined || !mayHaveLists(schema.items)) return
  for (const [index, item] of list.entries()) check(schema.items, item, `${path}[${index}]`, errors)
}

function checkKeys(names: readonly string[], list: readonly unknown[], path: string, errors: FieldError[]): void {
  const other = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (other >= 0) {
    errors.push(invalid(`${path}[${other}]`, list[other], 'must be an object for an array of list-type map'))
    return
  }
  const sorted = [...names].sort()
  const keys = list.map((item) => (isJsonObject(item) ? keyOf(sorted, item) : {}))
  refuseRepeated(keys, path, errors)
}

function keyOf(names: readonly string[], item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name]]] : [])))
}

/** Each duplicate value is reported once, at its second occurrence. */
function refuseRepeated(values: readonly unknown[], path: string, errors: FieldError[]): void {
  if (values.length < 2) return
  const counts = new Map<unknown, number>()
  for (const [index, value] of values.entries()) {
    const text = typeof value === 'object' || typeof value === 'string' ? canonicalText(value) : value
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    if (count === 2) errors.push(fieldError('FieldValueDuplicate', `${path}[${index}]`, { title: 'Duplicate value', value, detail: '' }))
  }
}
