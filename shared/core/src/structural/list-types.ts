import { memo } from '@orch/cel/memo'
import { isJsonObject } from '../json/member.ts'
import type { FieldError } from '../meta/status.ts'
import { canonicalText } from './canonical.ts'
import { fieldError, invalid } from './field-path.ts'
import type { StructuralSchema } from './schema.ts'

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
  const others = list.flatMap((item, index) => (item === null || isJsonObject(item) ? [] : [index]))
  for (const index of others) errors.push(invalid(`${path}[${index}]`, list[index], 'must be an object for an array of list-type map'))
  if (others.length > 0) return
  const keys = list.map((item) => (isJsonObject(item) ? keyOf(names, item) : {}))
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
