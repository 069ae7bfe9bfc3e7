import { joinedPath, typeInvalid } from './field-path.ts'
import { isKnownFormat } from './formats.ts'
import { kindOfValue, type ValueKind } from './go-text.ts'
import type { Run } from './run.ts'
import type { StructuralSchema } from './schema.ts'

/** The schema types of the kinds of values. */
const typeOfKind: Readonly<Record<ValueKind, string>> = {
  null: 'null',
  boolean: 'boolean',
  string: 'string',
  int: 'integer',
  float: 'number',
  list: 'array',
  object: 'object',
}

/** The default formats of Go's number types. */
const formatOfKind: Readonly<Partial<Record<ValueKind, string>>> = { int: 'int64', float: 'float64' }

/** Checks that a value has the schema's type. Returns the number of passed checks. */
export function checkType(schema: StructuralSchema, value: unknown, run: Run): number {
  const types = typesOf(schema)
  const format = schema.values?.format
  const known = format !== undefined && isKnownFormat(format) ? format : undefined
  if (types.length === 0 && known === undefined) return 0
  const kind = kindOfValue(value)
  if (kind === 'null') return types.length === 0 || schema.nullable === true ? 1 : refuse(types.join(','), 'null', run)
  const type = typeOfKind[kind]
  const isOfType =
    types.includes(type) ||
    (kind === 'int' && types.includes('number')) ||
    (typeof value === 'number' && Number.isSafeInteger(value) && types.includes('integer'))
  if (known !== undefined) {
    const isTextOrList = kind === 'string' || kind === 'list'
    const valueFormat = formatOfKind[kind] ?? ''
    if (!isTextOrList && !isOfType && valueFormat !== known) return refuse(known, valueFormat, run)
    if (isTextOrList && !types.includes('number') && !types.includes('integer')) return 1
  }
  return isOfType ? 1 : refuse(types.join(','), type, run)
}

/** The allowed types of a value; empty for any type. */
function typesOf({ type, isIntOrString }: StructuralSchema): readonly string[] {
  if (isIntOrString === true) return ['integer', 'string']
  return type === undefined ? [] : [type]
}

function refuse(expected: string, found: string, { names, errors }: Run): number {
  const path = joinedPath(names)
  errors.push(typeInvalid(path, found, `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`))
  return 0
}
