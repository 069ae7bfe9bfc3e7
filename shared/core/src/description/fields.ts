import type { FieldFacets, Node } from './node.ts'

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
