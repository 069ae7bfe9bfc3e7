import type { Alternative, Field, FieldFacets, Node, ScalarNode, StructNode, VariantNode } from './node.ts'

/** A field before its struct has given it a name. */
export interface FieldDefinition extends FieldFacets {
  readonly form: 'field'
  readonly node: Node
}

/** The fields of another struct, flat in JSON, a nested message on the wire. */
export interface InlineDefinition {
  readonly form: 'inline'
  readonly type: string
  readonly tag: number
}

/** A struct as it is written down; `resolveType` puts the inlined fields in their place. */
export interface StructDefinition {
  readonly kind: 'structDefinition'
  readonly members: Readonly<Record<string, FieldDefinition | InlineDefinition>>
  readonly hasTypeMeta: boolean
  readonly facets: StructFacets
}

export interface StructFacets {
  readonly structType?: 'atomic'
  readonly union?: boolean
  readonly noProtobuf?: boolean
  readonly doc?: string
}

/** Makes one type. Nothing of it exists before somebody asks for the type. */
export type TypeThunk = () => Node | StructDefinition

const scalar = (kind: ScalarNode['kind']): (() => Node) => {
  const node: Node = Object.freeze({ kind })
  return () => node
}

const anyString: Node = Object.freeze({ kind: 'string' })

export const boolean = scalar('boolean')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
export const double = scalar('double')
/** Base64 in JSON. */
export const bytes = scalar('bytes')
/** RFC 3339, whole seconds, UTC. */
export const time = scalar('time')
/** RFC 3339 with six digits of a second, UTC. */
export const microTime = scalar('microTime')
export const quantity = scalar('quantity')
export const intOrString = scalar('intOrString')
/** An object of any kind, passed through. */
export const raw = scalar('raw')
/** Any JSON value, passed through. */
export const json = scalar('json')
/** The set of fields of a `managedFields` entry. */
export const fieldsV1 = scalar('fieldsV1')

export const string = (): Node => anyString
/** A string that may take these values only. */
export const closed = (...values: readonly string[]): Node => ({ kind: 'string', values, isClosed: true })
/** A string for which these values have a meaning; others are allowed. */
export const known = (...values: readonly string[]): Node => ({ kind: 'string', values })
export const list = (items: Node): Node => ({ kind: 'list', items })
/** A list that is a message of its own on the Protobuf wire, with the items in field 1. */
export const wrapped = (items: Node): Node => ({ kind: 'list', items, isWrapped: true })
/** Keys are always strings. */
export const map = (values: Node): Node => ({ kind: 'map', values })
/** Another type, by package and name: `core/v1.PodSpec`. */
export const ref = (name: string): Node => ({ kind: 'ref', name })
export const variant = (forms: { object: Alternative; array?: Alternative; boolean?: Alternative }): VariantNode => ({
  kind: 'variant',
  ...forms,
})

export const field = (node: Node, facets: FieldFacets = {}): FieldDefinition => ({ form: 'field', node, ...facets })
export const inline = (type: string, { tag }: { tag: number }): InlineDefinition => ({ form: 'inline', type, tag })

type Members = Readonly<Record<string, FieldDefinition | InlineDefinition>>

export const struct = (members: Members, facets: StructFacets = {}): StructDefinition => ({
  kind: 'structDefinition',
  members,
  hasTypeMeta: false,
  facets,
})

/** A struct with `kind` and `apiVersion` before its own fields. */
export const object = (members: Members, facets: StructFacets = {}): StructDefinition => ({
  kind: 'structDefinition',
  members,
  hasTypeMeta: true,
  facets,
})

/** The types of one package. An identity function that checks the shape and keeps the keys. */
export const defineTypes = <Name extends string>(types: Readonly<Record<Name, TypeThunk>>): Readonly<Record<string, TypeThunk>> => types

const kindDoc = 'The kind of the object, in CamelCase, as its group version defines it. It cannot be changed.'
const apiVersionDoc = 'The group version in which the object is written. The server converts it to the version that was asked for.'

const typeMetaFields: readonly Field[] = [
  { name: 'kind', node: anyString, doc: kindDoc },
  { name: 'apiVersion', node: anyString, doc: apiVersionDoc },
]

/** A defined struct with names given and inlined fields in their place. */
export function completeStruct(definition: StructDefinition, resolveStruct: (name: string) => StructNode): StructNode {
  const { members, hasTypeMeta, facets } = definition
  const fields: Field[] = hasTypeMeta ? [...typeMetaFields] : []
  for (const [name, member] of Object.entries(members)) {
    if (member.form === 'field') fields.push(nameField(name, member))
    else fields.push(...inlineFields(name, member, resolveStruct))
  }
  const { union, noProtobuf, ...rest } = facets
  return {
    kind: 'struct',
    fields,
    hasTypeMeta,
    ...(union ? { isUnion: true } : {}),
    ...(noProtobuf ? { hasNoProtobuf: true } : {}),
    ...rest,
  }
}

function nameField(name: string, { form: _form, ...facets }: FieldDefinition): Field {
  return { name, ...facets }
}

function inlineFields(protoName: string, { type, tag }: InlineDefinition, resolveStruct: (name: string) => StructNode): Field[] {
  return resolveStruct(type).fields.map((inner) => ({ ...inner, inlined: { type, tag, protoName } }))
}
