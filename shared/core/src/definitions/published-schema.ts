import { print } from '../catalogue/validation/part.ts'
import { additionalSchema, itemSchema, type SchemaProps, someSchema } from './schema-props.ts'
import { knownTypes } from './strictness.ts'
import { isStructural } from './structural-grammar.ts'

type Json = Readonly<Record<string, unknown>>

/** What a schema is published with. */
export interface Publication {
  /** Of OpenAPI. */
  readonly version: 2 | 3
  readonly group: string
  readonly apiVersion: string
  readonly kind: string
  /** Paths of selectable fields. */
  readonly selectable?: readonly string[]
  /** The definition keeps unknown fields, as definitions of before v1 could. */
  readonly keepsUnknown?: boolean
  /** The schema is known to be structural. It is checked otherwise, which takes most of the time for large ones. */
  readonly isStructural?: boolean
  /** Refers to a described type, such as `meta/v1.ObjectMeta`. */
  readonly refTo: (type: string) => Json
}

/** The name of the schema of a kind in documents: `com.example.v1.Widget`. */
export function publishedName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`
}

/**
 * The schema of objects of a custom kind as OpenAPI documents have it. A schema that is not structural says nothing there; one that
 * keeps unknown fields says nothing in version 2, whose readers take what it names for all there is.
 */
export function publishSchema(schema: SchemaProps | undefined, publication: Publication): Json {
  const { group, apiVersion, kind, selectable = [] } = publication
  return {
    ...publishedProperties(schema, publication),
    'x-kubernetes-group-version-kind': [{ group, version: apiVersion, kind }],
    ...(selectable.length > 0 && { 'x-kubernetes-selectable-fields': selectable.map((fieldPath) => ({ fieldPath })) }),
  }
}

/** The schema of lists of a custom kind. */
export function publishListSchema(listKind: string, { group, apiVersion, kind, version, refTo }: Publication): Json {
  const prefix = version === 2 ? '#/definitions/' : '#/components/schemas/'
  const ref = { $ref: `${prefix}${publishedName(group, apiVersion, kind)}` }
  return {
    description: `A list of ${kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeMembers,
      metadata: described(refTo('meta/v1.ListMeta'), listMetaText, version),
      items: { description: `The ${kind} objects of the list.`, type: 'array', items: version === 2 ? ref : { allOf: [ref] } },
    },
    'x-kubernetes-group-version-kind': [{ group, version: apiVersion, kind: listKind }],
  }
}

const metaText = 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.'
const listMetaText = 'Standard metadata of the list: its revision, and where it continues when it was cut off by a limit.'

const typeMembers: Json = {
  apiVersion: { description: 'Group and version of the type of this object: `v1`, `apps/v1`.', type: 'string' },
  kind: { description: 'The type of this object, in CamelCase.', type: 'string' },
}

function publishedProperties(schema: SchemaProps | undefined, publication: Publication): Json {
  const { version, keepsUnknown = false, isStructural: isKnown = false } = publication
  const isOpen = keepsUnknown || schema?.['x-kubernetes-preserve-unknown-fields'] === true
  if (schema === undefined || !(isKnown || isPublishable(schema)) || (version === 2 && isOpen)) return { type: 'object' }
  const unfolded = withIntOrString(schema)
  const published = withMembers(version === 2 ? toVersion2(unfolded) : unfolded, publication)
  return { ...published, properties: { ...(published['properties'] as Json | undefined), ...members(publication) } }
}

function isPublishable(schema: SchemaProps): boolean {
  return !someSchema(schema, ({ type = '' }) => type !== '' && !knownTypes.includes(type)) && isStructural(schema)
}

function members({ version, refTo }: Publication): Json {
  return { ...typeMembers, metadata: described(refTo('meta/v1.ObjectMeta'), metaText, version) }
}

/** Version 3 has nothing beside a reference. */
function described(ref: Json, description: string, version: 2 | 3): Json {
  return version === 2 ? { ...ref, description } : { allOf: [ref], description }
}

const intOrString: readonly SchemaProps[] = [{ type: 'integer' }, { type: 'string' }]

/** Says of an integer or a string in junctors that it is one of them, where the schema itself does not. */
function withIntOrString(schema: SchemaProps): SchemaProps {
  const { anyOf, allOf = [] } = schema
  const saysSo = [anyOf, allOf[0]?.anyOf].some((options) => print(options) === print(intOrString))
  const mapped = mapParts(schema, withIntOrString)
  if (schema['x-kubernetes-int-or-string'] !== true || saysSo) return mapped
  return anyOf === undefined ? { ...mapped, anyOf: intOrString } : { ...mapped, allOf: [{ anyOf: intOrString }, ...allOf] }
}

/** What version 2, as its readers take it, can say of a schema. */
export function toVersion2({ allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, ...schema }: SchemaProps): SchemaProps {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  const hasParts = schema.nullable !== true && !isOpen
  const { nullable = false, items, properties, type, ...rest } = schema
  const keepsItems = hasParts && items !== undefined
  // Readers stumble over lists without a schema of their items, and over objects that may have other fields.
  const isUntyped = nullable || (type === 'array' && !keepsItems) || (type === 'object' && isOpen)
  const kept: SchemaProps = {
    ...rest,
    ...(type !== undefined && !isUntyped && { type }),
    ...(keepsItems && { items }),
    ...(hasParts && properties !== undefined && { properties }),
  }
  return mapParts(withRequired(kept, stillRequired(kept)), toVersion2)
}

/** A member that may be null has no type there, and cannot be required. */
function stillRequired(schema: SchemaProps): readonly string[] {
  if (additionalSchema(schema)?.nullable === true) return []
  return (schema.required ?? []).filter((name) => schema.properties?.[name]?.nullable !== true)
}

function withRequired({ required: _required, ...schema }: SchemaProps, required: readonly string[]): SchemaProps {
  return required.length === 0 ? schema : { ...schema, required }
}

function mapParts(schema: SchemaProps, map: (part: SchemaProps) => SchemaProps): SchemaProps {
  const items = itemSchema(schema)
  const additional = additionalSchema(schema)
  const { properties } = schema
  return {
    ...schema,
    ...(properties !== undefined && { properties: mapValues(properties, map) }),
    ...(items !== undefined && { items: map(items) }),
    ...(additional !== undefined && { additionalProperties: map(additional) }),
  }
}

function mapValues(properties: NonNullable<SchemaProps['properties']>, map: (part: SchemaProps) => SchemaProps) {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, map(property)]))
}

/** Adds what every object of the API has to those that are embedded. */
function withMembers(schema: SchemaProps, publication: Publication): Json {
  const inner = { ...mapParts(schema, (part) => withMembers(part, publication)) }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true && publication.version === 2
  if (schema['x-kubernetes-embedded-resource'] !== true || isOpen) return inner
  const required = [...(schema.required ?? []), ...['kind', 'apiVersion'].filter((name) => schema.required?.includes(name) !== true)]
  return { ...inner, properties: { ...inner.properties, ...members(publication) }, required }
}
