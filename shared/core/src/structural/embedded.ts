import { memo } from '@orch/cel/memo'
import { isJsonObject, memberPath } from '../json/member.ts'
import { checkLabel1035, type FieldError, type ObjectMeta, textSince } from '../meta/index.ts'
import { validateObjectMeta } from '../validation/object-meta.ts'
import { invalid } from './field-path.ts'
import { readObjectMeta } from './object-meta.ts'
import type { StructuralSchema } from './schema.ts'

/** The path of a value, and the minor version of the release whose rules apply. */
interface EmbeddedPlace {
  readonly path: string
  readonly level: number
}

/** The errors of `apiVersion`, `kind` and `metadata` of embedded objects in a value. */
export function validateEmbedded(schema: StructuralSchema, value: unknown, place: EmbeddedPlace): FieldError[] {
  const errors: FieldError[] = []
  if (mayEmbed(schema)) check(schema, value, place, errors)
  return errors
}

/** True if a schema may contain embedded objects; most do not. */
const mayEmbed: (schema: StructuralSchema) => boolean = memo((schema: StructuralSchema) => {
  const { isEmbeddedResource, items, additionalProperties, properties } = schema
  const has =
    isEmbeddedResource === true ||
    (items !== undefined && mayEmbed(items)) ||
    (typeof additionalProperties === 'object' && mayEmbed(additionalProperties)) ||
    [...(properties?.values() ?? [])].some(mayEmbed)
  return has
})

function check(schema: StructuralSchema, value: unknown, place: EmbeddedPlace, errors: FieldError[]): void {
  const { path } = place
  const at = (inner: string): EmbeddedPlace => ({ ...place, path: inner })
  if (Array.isArray(value)) {
    if (schema.items === undefined || !mayEmbed(schema.items)) return
    for (const [index, item] of value.entries()) check(schema.items, item, at(`${path}[${index}]`), errors)
    return
  }
  if (!isJsonObject(value)) return
  if (schema.isEmbeddedResource === true) errors.push(...validateEmbeddedObject(value, place))
  const { additionalProperties } = schema
  for (const name of Object.keys(value)) {
    const property = schema.properties?.get(name)
    if (property !== undefined) check(property, value[name], at(memberPath(path, name)), errors)
    else if (typeof additionalProperties === 'object') check(additionalProperties, value[name], at(`${path}[${name}]`), errors)
  }
}

/** The errors of the three members of an embedded object. */
export function validateEmbeddedObject(object: Readonly<Record<string, unknown>>, { path, level }: EmbeddedPlace): FieldError[] {
  return [
    ...validateApiVersion(object, memberPath(path, 'apiVersion')),
    ...validateKind(object, memberPath(path, 'kind')),
    ...validateMeta(object, memberPath(path, 'metadata'), level),
  ]
}

const required = textSince(34, { before: 'Required value: must not be empty', after: 'Required value' })

function validateApiVersion({ apiVersion }: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  if (apiVersion === undefined) return [{ reason: 'FieldValueRequired', field, message: required }]
  if (apiVersion === '') return [invalid(field, apiVersion, 'must not be empty')]
  if (typeof apiVersion !== 'string') return [invalid(field, apiVersion, 'must be a string')]
  return apiVersion.split('/').length > 2 ? [invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)] : []
}

function validateKind({ kind }: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  if (kind === undefined) return [{ reason: 'FieldValueRequired', field, message: required }]
  if (kind === '') return [invalid(field, kind, 'must not be empty')]
  if (typeof kind !== 'string') return [invalid(field, kind, 'must be a string')]
  const problems = checkLabel1035(kind.toLowerCase())
  return problems.length === 0 ? [] : [invalid(field, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}

function validateMeta({ metadata }: Readonly<Record<string, unknown>>, path: string, level: number): FieldError[] {
  if (metadata === undefined) return []
  const read = readObjectMeta(metadata, { dropsMalformed: false, trackUnknown: false })
  if (read.kind === 'malformed') return [invalid(path, metadata, read.text)]
  const meta: ObjectMeta = { ...read.meta }
  // The name may be missing, because it may be set later.
  return validateObjectMeta(
    { ...meta, name: meta.name || 'a-name' },
    { isNamespaced: Boolean(meta.namespace), nameKind: 'pathSegment', path, level },
  )
}
