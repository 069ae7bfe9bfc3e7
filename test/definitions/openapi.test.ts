import {
  findUnsupported,
  publishedName,
  publishListSchema,
  publishSchemaInSteps,
  type SchemaProps,
  toVersion2,
} from '@orch/core/definitions'
import { runAtOnce } from '@orch/core/steps'
import { describe, expect, test } from 'vitest'
import { readCases } from './cases.ts'

type Json = Readonly<Record<string, unknown>>

interface BuilderCase {
  readonly name: string
  readonly schema?: string
  readonly wantedSchema: string
  readonly wantedItemsSchema?: string
  readonly v2?: boolean
  readonly version?: string
  readonly includeSelectable?: boolean
  readonly preserveUnknownFields?: boolean
  readonly opts?: { readonly v2?: boolean; readonly includeSelectableFields?: boolean }
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

describe('CRD-149: the schema of a kind in OpenAPI', () => {
  test.each(readCases<BuilderCase>('openapi-builder'))('equals the recorded schema: $name', (row) => {
    const { schema = '', version: apiVersion = 'v1', selectableFields = [], preserveUnknownFields = false } = row
    const version = row.v2 === true || row.opts?.v2 === true ? 2 : 3
    const prefix = version === 2 ? '#/definitions/' : '#/components/schemas/'
    const publication = {
      version,
      group: 'bar.k8s.io',
      apiVersion,
      kind: 'Foo',
      keepsUnknown: preserveUnknownFields,
      selectable: row.opts?.includeSelectableFields === true ? selectableFields.map(({ jsonPath }) => jsonPath) : [],
      refTo: (type: string) => ({ $ref: `${prefix}io.k8s.apimachinery.pkg.apis.${type.replace('/', '.')}` }),
    } as const
    const props = schema === '' ? undefined : (JSON.parse(schema) as SchemaProps)
    const published = runAtOnce(publishSchemaInSteps(props, publication))
    expect(bare(published)).toEqual(bare(JSON.parse(row.wantedSchema)))
    if (row.wantedItemsSchema === undefined) return
    const list = publishListSchema('FooList', publication) as { properties: { items: { items: unknown } } }
    expect(list.properties.items.items).toEqual(JSON.parse(row.wantedItemsSchema))
  })

  test('the name of a schema begins with the group, reversed', () => {
    expect(publishedName('stable.example.com', 'v1', 'Widget')).toBe('com.example.stable.v1.Widget')
  })
})

/** Removes descriptions, and treats required members as a set. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, member]) => name !== 'description' || typeof member !== 'string')
  return Object.fromEntries(entries.map(([name, member]) => [name, name === 'required' ? [...member].sort() : bare(member)]))
}

interface ConversionCase {
  readonly name: string
  readonly in: SchemaProps
  readonly expectError?: boolean
  readonly expected?: Json
  readonly incomplete?: boolean
}

describe('CRD-150: the part of a schema for version 2', () => {
  test.each(readCases<ConversionCase>('openapi-v2-conversion'))('equals the recorded part: $name', (row) => {
    if (row.expectError === true) {
      expect(findUnsupported(row.in)).toBeDefined()
      return
    }
    // These cases set one facet, which stays.
    const { 'x-kubernetes-preserve-unknown-fields': isOpen, ...published } = toVersion2(row.in)
    expect(published).toEqual(row.incomplete === true ? row.in : flat(row.expected))
    // The tables leave extensions out.
    expect(isOpen).toBe(row.in['x-kubernetes-preserve-unknown-fields'])
  })
})

/** The tables keep a schema's contents in parts and its types in lists. */
function flat(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(flat)
  if (typeof value !== 'object' || value === null) return value
  const { schemaProps = {}, vendorExtensible, ...rest } = value as { schemaProps?: object; vendorExtensible?: { extensions?: object } }
  const members = { ...rest, ...schemaProps, ...vendorExtensible?.extensions }
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, name === 'type' && Array.isArray(member) ? member[0] : flat(member)]),
  )
}
