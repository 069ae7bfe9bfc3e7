import type { Catalogue, Gvk } from '../catalogue/catalogue.ts'
import type { OpenApiSchema } from '../catalogue/kind-readers.ts'
import { isJsonObject } from '../json/member.ts'
import type { Schema } from './schemas.ts'

/** The types of a catalogue that no description has, with those of their lists, by the name of the type. */
export function customTypesOf({ resources }: Catalogue): Map<string, OpenApiSchema> {
  const types = new Map<string, OpenApiSchema>()
  for (const { type, listKind, readers, ...gvk } of resources) {
    const { openApi } = readers
    if (openApi.kind !== 'schema') continue
    types.set(type, openApi)
    types.set(`${type}List`, listOf({ ...gvk, kind: listKind }, openApi.name, type))
  }
  return types
}

const apiVersion = { description: 'The version of the schema of this object.', type: 'string' }
const kind = { description: 'The kind of this object.', type: 'string' }

/** How documents describe a custom kind. `schemaOf` gives the schema of its definition, which may have none. */
export function customOpenApi({ group, version, kind: ownKind }: Gvk, schemaOf: () => unknown): OpenApiSchema {
  return {
    kind: 'schema',
    name: `${group.split('.').reverse().join('.')}.${version}.${ownKind}`,
    schema(dialect, refTo) {
      const given = schemaOf()
      const own = isJsonObject(given) ? (dialect === 2 ? toOpenApi2(given) : given) : { type: 'object' }
      const properties = isJsonObject(own['properties']) ? own['properties'] : {}
      const metadata = besideReference({ description: "Standard object's metadata." }, refTo('meta/v1.ObjectMeta'), dialect)
      return {
        ...own,
        type: 'object',
        properties: { apiVersion, kind, metadata, ...withoutTypeMeta(properties) },
        'x-kubernetes-group-version-kind': [{ group, kind: ownKind, version }],
      }
    },
  }
}

function withoutTypeMeta({ apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...properties }: Schema): Schema {
  return properties
}

function listOf({ group, version, kind: listKind }: Gvk, itemName: string, itemType: string): OpenApiSchema {
  return {
    kind: 'schema',
    name: `${itemName}List`,
    schema(dialect, refTo) {
      const metadata = besideReference({ description: "Standard list's metadata." }, refTo('meta/v1.ListMeta'), dialect)
      return {
        description: `${listKind} is a list of objects.`,
        type: 'object',
        required: ['items'],
        properties: { apiVersion, items: { description: 'The objects.', type: 'array', items: refTo(itemType) }, kind, metadata },
        'x-kubernetes-group-version-kind': [{ group, kind: listKind, version }],
      }
    },
  }
}

/** OpenAPI 3 knows nothing beside a reference. */
function besideReference(siblings: Schema, reference: Schema, dialect: 2 | 3): Schema {
  return dialect === 2 ? { ...siblings, ...reference } : { ...siblings, allOf: [reference] }
}

const unknownTo2: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'not', 'nullable', 'default'])
/** What says nothing where any type may stand. */
const ofOneType: ReadonlySet<string> = new Set(['type', 'properties', 'items', 'additionalProperties'])

/** A schema without what OpenAPI 2 cannot say, as clients of it refuse valid objects otherwise. */
function toOpenApi2(schema: Schema): Schema {
  const keepsAny = schema['x-kubernetes-preserve-unknown-fields'] === true
  const hasAnyType = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true
  const isLeftOut = (name: string): boolean =>
    unknownTo2.has(name) || (hasAnyType && ofOneType.has(name)) || (keepsAny && name !== 'type' && ofOneType.has(name))
  const members = Object.entries(schema).filter(([name]) => !isLeftOut(name))
  return Object.fromEntries(members.map(([name, value]) => [name, memberTo2(name, value)]))
}

function memberTo2(name: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value
  if (name === 'items' || name === 'additionalProperties') return toOpenApi2(value)
  if (name !== 'properties') return value
  return Object.fromEntries(Object.entries(value).map(([key, property]) => [key, isJsonObject(property) ? toOpenApi2(property) : property]))
}
