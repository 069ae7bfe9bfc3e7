import type {
  Alternative,
  Field,
  FieldFacets,
  ListFacets,
  MapFacets,
  Node,
  NumberFacets,
  ScalarNode,
  StringNode,
  StructNode,
  TextFormat,
  VariantNode,
} from './node.ts'

/** A list of one kind of items. */
export interface ListOf<N extends Node> extends ListFacets {
  readonly kind: 'list'
  readonly items: N
  readonly isWrapped?: boolean
}

/** A map with one kind of values. */
export interface MapOf<N extends Node> extends MapFacets {
  readonly kind: 'map'
  readonly values: N
}

/** Another type by its name. */
export interface RefTo<Name extends string> {
  readonly kind: 'ref'
  readonly name: Name
}

/** The presence of a field in an object of the type: always, always but possibly null, or only if set. */
type Presence = 'always' | 'nullable' | 'whenSet' | 'pointer'

/** A field before its struct gives it a name. Its type parameters are inferred and determine the types of objects. */
export interface FieldDefinition<N extends Node = Node, P extends Presence = Presence> extends FieldFacets {
  readonly kind: 'field'
  readonly node: N
  readonly tag?: number
  /** For type inference only; never set. */
  readonly presence?: P | undefined
}

/** The fields of another struct: flat in JSON, a nested message on the wire. */
export interface InlineDefinition<Type extends string = string> {
  readonly kind: 'inline'
  readonly type: Type
  readonly tag: number
}

/** A struct as it is declared; `resolveType` inserts the inlined fields. */
export interface StructDefinition<M extends Members = Members, HasTypeMeta extends boolean = boolean> {
  readonly kind: 'structDefinition'
  readonly members: M
  readonly hasTypeMeta: HasTypeMeta
  readonly facets: StructFacets
}

export type StructFacets = Omit<StructNode, 'kind' | 'fields' | 'hasTypeMeta'>

/** Makes a type on demand. */
export type TypeThunk = () => Node | StructDefinition

const scalar = <Kind extends ScalarNode['kind']>(kind: Kind): (() => { readonly kind: Kind }) => {
  const node = Object.freeze({ kind })
  return () => node
}

const anyString: StringNode = Object.freeze({ kind: 'string' })

const number = <Kind extends 'int32' | 'int64'>(kind: Kind): ((facets?: NumberFacets) => { readonly kind: Kind }) => {
  const node = Object.freeze({ kind })
  return (facets) => (facets === undefined ? node : { kind, ...facets })
}

export const boolean = scalar('boolean')
/** Bounds only affect validation. */
export const int32 = number('int32')
export const int64 = number('int64')
export const double = scalar('double')
/** Bytes, as base64 in JSON. */
export const bytes = scalar('bytes')
/** RFC 3339, whole seconds, UTC. */
export const time = scalar('time')
/** RFC 3339 with six digits of a second, UTC. */
export const microTime = scalar('microTime')
export const quantity = (facets?: Pick<ScalarNode, 'sign' | 'detail'>): { readonly kind: 'quantity' } => ({ kind: 'quantity', ...facets })
export const intOrString = (facets?: Pick<ScalarNode, 'means' | 'max'>): { readonly kind: 'intOrString' } => ({
  kind: 'intOrString',
  ...facets,
})
/** An object of any kind, passed through. */
export const raw = scalar('raw')
/** Any JSON value, passed through. */
export const json = scalar('json')
/** The field set of a `managedFields` entry. */
export const fieldsV1 = scalar('fieldsV1')

export const string = (facets?: Pick<StringNode, 'bytesMax'>): StringNode =>
  facets === undefined ? anyString : { kind: 'string', ...facets }
/** A text in a format that validation checks. */
export const text = (format: TextFormat, facets?: Pick<StringNode, 'bytesMax' | 'charactersSince'>): StringNode => ({
  kind: 'string',
  format,
  ...facets,
})
/** A string that validation restricts to its values. */
export const only = (node: StringNode): StringNode => ({ ...node, isEnforced: true })
/** A string with a closed set of values. */
export const closed = (...values: readonly string[]): StringNode => ({ kind: 'string', values, isClosed: true })
/** A string with well-known values; other values are allowed. */
export const known = (...values: readonly string[]): StringNode => ({ kind: 'string', values })
/** A string with values that levels have added or removed. */
export const valuesByLevel = (
  node: StringNode,
  levels: { since?: Record<string, number>; until?: Record<string, number> },
): StringNode => ({
  ...node,
  ...(levels.since === undefined ? {} : { valuesSince: levels.since }),
  ...(levels.until === undefined ? {} : { valuesUntil: levels.until }),
})
export const list = <N extends Node>(items: N, facets?: ListFacets): ListOf<N> => ({ kind: 'list', items, ...facets })
/** A list that is a separate message on the Protobuf wire, with the items in field 1. */
export const wrapped = <N extends Node>(items: N): ListOf<N> => ({ kind: 'list', items, isWrapped: true })
/** Keys are always strings. */
export const map = <N extends Node>(values: N): MapOf<N> => ({ kind: 'map', values })
/** A map with the keys and values of labels. */
export const labels = (): MapOf<StringNode> => ({ kind: 'map', values: anyString, isLabels: true })
/** Another type, by package and name: `core/v1.PodSpec`. */
export const ref = <Name extends string>(name: Name): RefTo<Name> => ({ kind: 'ref', name })
export const variant = (forms: { object: Alternative; array?: Alternative; boolean?: Alternative }): VariantNode => ({
  kind: 'variant',
  ...forms,
})

type PresenceOf<F extends FieldFacets> = F extends { readonly required: true } | { readonly keepEmpty: true }
  ? F extends { readonly pointer: true }
    ? 'nullable'
    : 'always'
  : F extends { readonly pointer: true }
    ? 'pointer'
    : 'whenSet'

/** The Protobuf number of a field that is only in JSON. */
export const noTag = undefined

/** The description of a field, alone or with further facets. */
type AboutField<F extends FieldFacets> = string | F

/** A builder of fields with these facets, unless a field states others. */
const fieldsWith =
  <const P extends FieldFacets>(preset: P) =>
  <N extends Node, F extends FieldFacets = FieldFacets>(
    node: N,
    tag?: number,
    about?: AboutField<F>,
  ): FieldDefinition<N, PresenceOf<F & Omit<P, 'needed'>>> => ({
    kind: 'field',
    node,
    ...(tag === undefined ? {} : { tag }),
    ...preset,
    ...(typeof about === 'string' ? { doc: about } : about),
  })

export const field = fieldsWith({})
/** A field that validation requires. */
export const needed = fieldsWith({ needed: true })
/** A field whose absence differs from the zero value. */
export const pointer = fieldsWith({ pointer: true })
/** A field that the published schema requires. */
export const required = fieldsWith({ required: true })
/** A list that server-side apply owns as a whole. */
export const atomic = fieldsWith({ listType: 'atomic' })
/** A list that server-side apply owns as a whole, as documents say since 1.30. */
export const atomicSince30 = fieldsWith({ changes: { 30: { listType: 'atomic' } } })
/** A field that validation checks even if it is empty. */
export const checked = fieldsWith({ isAlwaysChecked: true })

/** A list whose items strategic merge patches and server-side apply tell apart by this field. */
export const merged = <N extends Node, F extends FieldFacets = FieldFacets>(key: string, node: N, tag: number, about: AboutField<F>) =>
  fieldsWith({ patchStrategy: 'merge', patchMergeKey: key, listType: 'map', listMapKeys: [key] })(node, tag, about)
/** Like `merged`, for documents that say so of server-side apply since 1.30. */
export const mergedSince30 = <N extends Node, F extends FieldFacets = FieldFacets>(
  key: string,
  node: N,
  tag: number,
  about: AboutField<F>,
) => fieldsWith({ patchStrategy: 'merge', patchMergeKey: key, changes: { 30: { listType: 'map', listMapKeys: [key] } } })(node, tag, about)

export const inline = <Type extends string>(type: Type, tag: number): InlineDefinition<Type> => ({ kind: 'inline', type, tag })

type Members = Readonly<Record<string, FieldDefinition | InlineDefinition>>

/** The description of a type, alone or with further facets. */
type About = string | (StructFacets & { readonly doc: string })

/** A builder of structs whose members are made on demand. */
const structsWith =
  <HasTypeMeta extends boolean>(hasTypeMeta: HasTypeMeta, preset: StructFacets = {}) =>
  <M extends Members>(about: About, membersOf: () => M) =>
  (): StructDefinition<M, HasTypeMeta> => ({
    kind: 'structDefinition',
    members: membersOf(),
    hasTypeMeta,
    facets: { ...preset, ...(typeof about === 'string' ? { doc: about } : about) },
  })

export const struct = structsWith(false)
/** A struct that server-side apply owns as a whole. */
export const atomicStruct = structsWith(false, { structType: 'atomic' })
/** A struct with `kind` and `apiVersion` before its other fields. */
export const object = structsWith(true)

/** The types of one package. An identity function that checks the shape and keeps the inferred type. */
export const defineTypes = <T extends Readonly<Record<string, TypeThunk>>>(types: T): T => types

const kindDoc = 'Kind is a string value, in CamelCase: the kind of the object, as its group version defines it. It cannot be changed.'
const apiVersionDoc =
  'APIVersion defines the group version in which the object is written. The server converts it to the version that was asked for.'

const typeMetaFields: readonly Field[] = [
  { name: 'kind', node: anyString, doc: kindDoc },
  { name: 'apiVersion', node: anyString, doc: apiVersionDoc },
]

/** A struct with named fields and with inlined fields inserted. */
export function completeStruct(definition: StructDefinition, resolveStruct: (name: string) => StructNode): StructNode {
  const { members, hasTypeMeta, facets } = definition
  const fields: Field[] = hasTypeMeta ? [...typeMetaFields] : []
  for (const [name, member] of Object.entries(members)) {
    if (member.kind === 'inline') {
      fields.push(...inlineFields(member, resolveStruct))
      continue
    }
    const { kind: _kind, ...field } = member
    fields.push({ name, ...field })
  }
  return { kind: 'struct', fields, hasTypeMeta, ...facets }
}

function inlineFields({ type, tag }: InlineDefinition, resolveStruct: (name: string) => StructNode): Field[] {
  return resolveStruct(type).fields.map((field) => {
    const { inlined: inner } = field
    return { ...field, inlined: { type, tag, ...(inner === undefined ? {} : { inner }) } }
  })
}
