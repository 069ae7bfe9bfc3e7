import type { FieldError } from '../meta/status.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../validation/field-errors.ts'
import { hasDefault, isList, itemSchema, type SchemaProps } from './schema-props.ts'

const listTypes = ['atomic', 'set', 'map']
const mapTypes = ['atomic', 'granular']

/** The rules of `x-kubernetes-map-type`. */
export function validateMapType(schema: SchemaProps, at: string): FieldError[] {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return []
  const errors = checkTypeFor(schema, 'object', 'x-kubernetes-map-type', at)
  return mapTypes.includes(mapType) ? errors : [...errors, unsupportedValue(`${at}.x-kubernetes-map-type`, mapType, mapTypes)]
}

/** The rules of `x-kubernetes-list-type` and `x-kubernetes-list-map-keys`. */
export function validateListType(
  schema: SchemaProps,
  at: string,
  { needsAtomicSets }: { readonly needsAtomicSets: boolean },
): FieldError[] {
  const listType = schema['x-kubernetes-list-type']
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const errors: FieldError[] = []
  if (listType !== undefined) {
    const wrongType = checkTypeFor(schema, 'array', 'x-kubernetes-list-type', at)
    errors.push(...(wrongType.length === 0 && needsAtomicSets ? checkSetItems(schema, at) : wrongType))
    if (!listTypes.includes(listType)) errors.push(unsupportedValue(`${at}.x-kubernetes-list-type`, listType, listTypes))
  }
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    const field = `${at}.x-kubernetes-list-type`
    errors.push(listType === undefined ? requiredValue(field, detail) : invalidValue(field, listType, detail))
  }
  return listType === 'map' ? [...errors, ...checkMapItems(schema, keys, at)] : errors
}

function checkTypeFor({ type = '' }: SchemaProps, wanted: string, extension: string, at: string): FieldError[] {
  if (type === wanted) return []
  const detail = `must be ${wanted} if ${extension} is specified`
  return [type === '' ? requiredValue(`${at}.type`, detail) : invalidValue(`${at}.type`, type, detail)]
}

/** True if the items of a set have parts that can be owned separately. */
export function hasGranularSetItems(schema: SchemaProps): boolean {
  return checkSetItems(schema, '').length > 0
}

function checkSetItems(schema: SchemaProps, at: string): FieldError[] {
  const items = itemSchema(schema)
  if (schema['x-kubernetes-list-type'] !== 'set' || items === undefined) return []
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const { 'x-kubernetes-list-type': listType = 'atomic', 'x-kubernetes-map-type': mapType } = items
  if (items.type === 'array' && listType !== 'atomic') return [invalidValue(`${at}.items.x-kubernetes-list-type`, listType, detail)]
  if (items.type === 'object' && mapType !== 'atomic') return [invalidValue(`${at}.items.x-kubernetes-map-type`, mapType, detail)]
  return []
}

function checkMapItems(schema: SchemaProps, keys: readonly string[], at: string): FieldError[] {
  const errors: FieldError[] = []
  if (keys.length === 0) {
    errors.push(requiredValue(`${at}.x-kubernetes-list-map-keys`, 'must not be empty if x-kubernetes-list-type is map'))
  }
  if (schema.items === undefined) return [...errors, requiredValue(`${at}.items`, 'must have a schema if x-kubernetes-list-type is map')]
  if (isList(schema.items)) {
    return [...errors, invalidValue(`${at}.items`, schema.items, 'must only have a single schema if x-kubernetes-list-type is map')]
  }
  const { type = '', properties = {} } = schema.items
  if (type !== 'object') {
    return [...errors, invalidValue(`${at}.items.type`, type, "must be object if parent array's x-kubernetes-list-type is map")]
  }
  const seen = new Set<string>()
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property === undefined) {
      errors.push(invalidValue(`${at}.x-kubernetes-list-map-keys`, keys, 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      errors.push(invalidValue(`${at}.items.properties[${key}].type`, type, detail))
    }
    if (seen.has(key)) errors.push(invalidValue(`${at}.x-kubernetes-list-map-keys`, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
  return errors
}

/** Items of sets and maps must have a schema, and all their keys. */
export function validateListItems(schema: SchemaProps, at: string): FieldError[] {
  const items = itemSchema(schema)
  const listType = schema['x-kubernetes-list-type']
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors =
    items.nullable === true ? [forbiddenValue(`${at}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`)] : []
  if (listType === 'set') return errors
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).filter((key) => Object.hasOwn(items.properties ?? {}, key))
  const required = new Set(items.required)
  return [...errors, ...keys.flatMap((key) => checkKey(items.properties?.[key] ?? {}, required.has(key), `${at}.items.properties[${key}]`))]
}

function checkKey(property: SchemaProps, isRequired: boolean, at: string): FieldError[] {
  const inKeys = 'this property is in x-kubernetes-list-map-keys, so it'
  const errors: FieldError[] = []
  if (!isRequired && !hasDefault(property)) {
    errors.push(requiredValue(`${at}.default`, `${inKeys} must have a default or be a required property`))
  }
  if (property.nullable === true) errors.push(forbiddenValue(`${at}.nullable`, `${inKeys} cannot be nullable`))
  return errors
}
