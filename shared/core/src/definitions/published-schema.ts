import { isJsonObject } from '../json/member.ts'
import { runAtOnce, type StepMeter, type Steps } from '../steps.ts'
import { print } from '../validation/part.ts'
import { additionalSchema, itemSchema, type SchemaProps, schemaMeter, someSchemaInSteps } from './schema-props.ts'
import { knownTypes } from './strictness.ts'
import { isStructuralInSteps } from './structural-grammar.ts'

type Json = Readonly<Record<string, unknown>>

/** Options for publishing a schema. */
export interface Publication {
  /** The version of OpenAPI. */
  readonly version: 2 | 3
  readonly group: string
  readonly apiVersion: string
  readonly kind: string
  /** Paths of selectable fields. */
  readonly selectable?: readonly string[]
  /** True for a definition that preserves unknown fields, as definitions before v1 could. */
  readonly keepsUnknown?: boolean
  /** True if the schema is known to be structural. Otherwise it is checked, which takes most of the time for large schemas. */
  readonly isStructural?: boolean
  /** Returns a reference to a described type, such as `meta/v1.ObjectMeta`. */
  readonly refTo: (type: string) => Json
}

/** The name of a kind's schema in documents: `com.example.v1.Widget`. */
export function publishedName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`
}

/**
 * The schema of a custom kind for OpenAPI documents. A non-structural schema is published empty. A schema that
 * preserves unknown fields is published empty in version 2, because its readers assume that the named fields are complete.
 */
export function* publishSchemaInSteps(schema: SchemaProps | undefined, publication: Publication): Steps<Json> {
  return {
    ...(yield* publishedProperties(schema, publication)),
    ...extensions(publication, publication.kind),
  }
}

function extensions({ group, apiVersion, selectable = [] }: Publication, kind: string): Json {
  return {
    'x-kubernetes-group-version-kind': [{ group, version: apiVersion, kind }],
    ...(selectable.length > 0 && { 'x-kubernetes-selectable-fields': selectable.map((fieldPath) => ({ fieldPath })) }),
  }
}

/** The schema of lists of a custom kind. */
export function publishListSchema(listKind: string, publication: Publication): Json {
  const { group, apiVersion, kind, version, refTo } = publication
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
    ...extensions(publication, listKind),
  }
}

const metaText = "Standard object's metadata: its name, labels, annotations and what the server keeps about it."
const listMetaText = 'Standard list metadata: its revision, and where it continues when it was cut off by a limit.'

const typeMembers: Json = {
  apiVersion: { description: 'APIVersion defines the group and version of the type of this object: `v1`, `apps/v1`.', type: 'string' },
  kind: { description: 'Kind is a string value, in CamelCase: the type of this object.', type: 'string' },
}

function* publishedProperties(schema: SchemaProps | undefined, publication: Publication): Steps<Json> {
  const { version, keepsUnknown = false, isStructural: isKnown = false } = publication
  const isOpen = keepsUnknown || schema?.['x-kubernetes-preserve-unknown-fields'] === true
  if (schema === undefined || (version === 2 && isOpen) || !(isKnown || (yield* isPublishable(schema)))) return { type: 'object' }
  const unfolded = version === 2 ? (part: SchemaProps) => version2Of(withIntOrString(part)) : withIntOrString
  const mapping: Mapping = { before: unfolded, after: (part, mapped) => withMembers(part, mapped, publication) }
  return withProperties(yield* mapInSteps(schema, mapping, schemaMeter()), members(publication))
}

function withProperties(mapped: Mapped, added: Json): Json {
  const { properties }: { readonly properties?: unknown } = mapped
  return { ...mapped, properties: { ...(isJsonObject(properties) && properties), ...added } }
}

function* isPublishable(schema: SchemaProps): Steps<boolean> {
  const isOfUnknownType = yield* someSchemaInSteps(schema, ({ type = '' }) => type !== '' && !knownTypes.includes(type))
  return !isOfUnknownType && (yield* isStructuralInSteps(schema))
}

function members({ version, refTo }: Publication): Json {
  return { ...typeMembers, metadata: described(refTo('meta/v1.ObjectMeta'), metaText, version) }
}

/** In version 3, a reference has no siblings. */
function described(ref: Json, description: string, version: 2 | 3): Json {
  return version === 2 ? { ...ref, description } : { allOf: [ref], description }
}

const intOrString: readonly SchemaProps[] = [{ type: 'integer' }, { type: 'string' }]

/** Adds the type int-or-string for an `anyOf` of integer and string, unless the schema states it. */
function withIntOrString(schema: SchemaProps): SchemaProps {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema
  const { anyOf, allOf = [] } = schema
  if ([anyOf, allOf[0]?.anyOf].some((options) => print(options) === print(intOrString))) return schema
  return anyOf === undefined ? { ...schema, anyOf: intOrString } : { ...schema, allOf: [{ anyOf: intOrString }, ...allOf] }
}

/** Reduces a schema to what readers of OpenAPI version 2 understand. */
export function toVersion2(schema: SchemaProps): Mapped {
  return runAtOnce(mapInSteps(schema, { before: version2Of, after: (_, mapped) => mapped }, schemaMeter()))
}

/** Like `toVersion2`, without descending into subschemas. */
function version2Of(given: SchemaProps): SchemaProps {
  if (saysTheSame(given)) return given
  const { allOf: _allOf, anyOf: _anyOf, oneOf: _oneOf, not: _not, ...schema } = given
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  const hasParts = schema.nullable !== true && !isOpen
  const { nullable = false, items, properties, type, ...rest } = schema
  const keepsItems = hasParts && items !== undefined
  // Readers fail on lists without an item schema, and on objects that may have other fields.
  const isUntyped = nullable || (type === 'array' && !keepsItems) || (type === 'object' && isOpen)
  const kept: SchemaProps = {
    ...rest,
    ...(type !== undefined && !isUntyped && { type }),
    ...(keepsItems && { items }),
    ...(hasParts && properties !== undefined && { properties }),
  }
  return withRequired(kept, stillRequired(kept))
}

/** True if version 2 can express a whole schema, without looking into its subschemas; this holds for most members. */
function saysTheSame(schema: SchemaProps): boolean {
  const { allOf, anyOf, oneOf, not, nullable, required, type } = schema
  const hasMore = allOf ?? anyOf ?? oneOf ?? not ?? nullable ?? required ?? schema['x-kubernetes-preserve-unknown-fields']
  return hasMore === undefined && type !== 'array'
}

/** A nullable member has no type in version 2, and cannot be required. */
function stillRequired(schema: SchemaProps): readonly string[] {
  if (additionalSchema(schema)?.nullable === true) return []
  return (schema.required ?? []).filter((name) => schema.properties?.[name]?.nullable !== true)
}

function withRequired({ required: _required, ...schema }: SchemaProps, required: readonly string[]): SchemaProps {
  return required.length === 0 ? schema : { ...schema, required }
}

/** A schema, unchanged or mapped. */
type Mapped = SchemaProps | Json

/** The changes to make before and after a schema's parts are mapped. */
interface Mapping {
  readonly before: (schema: SchemaProps) => SchemaProps
  readonly after: (schema: SchemaProps, mapped: Mapped) => Mapped
}

/** Maps a schema and all its parts. Unchanged parts are shared. */
function* mapInSteps(given: SchemaProps, mapping: Mapping, meter: StepMeter): Steps<Mapped> {
  if (meter.isFull()) yield
  const schema = mapping.before(given)
  return hasParts(schema) ? yield* mapPartsInSteps(schema, mapping, meter) : mapping.after(schema, schema)
}

function hasParts(schema: SchemaProps): boolean {
  return schema.properties !== undefined || itemSchema(schema) !== undefined || additionalSchema(schema) !== undefined
}

function* mapPartsInSteps(schema: SchemaProps, mapping: Mapping, meter: StepMeter): Steps<Mapped> {
  const [items, additional] = [itemSchema(schema), additionalSchema(schema)]
  const { properties } = schema
  const mapped = {
    properties: properties === undefined ? undefined : yield* mapProperties(properties, mapping, meter),
    items: items === undefined ? undefined : yield* mapInSteps(items, mapping, meter),
    additionalProperties: additional === undefined ? undefined : yield* mapInSteps(additional, mapping, meter),
  }
  const isSame = mapped.properties === properties && mapped.items === items && mapped.additionalProperties === additional
  if (isSame) return mapping.after(schema, schema)
  const changed = Object.entries(mapped).filter(([, part]) => part !== undefined)
  return mapping.after(schema, { ...schema, ...Object.fromEntries(changed) })
}

function* mapProperties(properties: NonNullable<SchemaProps['properties']>, mapping: Mapping, meter: StepMeter): Steps<Json> {
  const mapped: [string, Mapped][] = []
  for (const [name, property] of Object.entries(properties)) {
    if (meter.isFull()) yield
    const schema = mapping.before(property)
    // Most schemas have no parts, and a generator for each would dominate the time.
    mapped.push([name, hasParts(schema) ? yield* mapPartsInSteps(schema, mapping, meter) : mapping.after(schema, schema)])
  }
  return mapped.every(([name, made]) => made === properties[name]) ? properties : Object.fromEntries(mapped)
}

/** Adds the members of API objects to embedded objects. */
function withMembers(schema: SchemaProps, mapped: Mapped, publication: Publication): Mapped {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true && publication.version === 2
  if (schema['x-kubernetes-embedded-resource'] !== true || isOpen) return mapped
  const required = [...(schema.required ?? []), ...['kind', 'apiVersion'].filter((name) => schema.required?.includes(name) !== true)]
  return { ...withProperties(mapped, members(publication)), required }
}
