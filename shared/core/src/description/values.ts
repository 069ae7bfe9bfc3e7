import type { Alternative, ListFacets, MapFacets, Node, NumberFacets, ScalarNode, VariantNode } from './node.ts'

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

const scalar = <Kind extends ScalarNode['kind']>(kind: Kind): (() => { readonly kind: Kind }) => {
  const node = Object.freeze({ kind })
  return () => node
}

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
export const list = <N extends Node>(items: N, facets?: ListFacets): ListOf<N> => ({ kind: 'list', items, ...facets })
/** A list that is a separate message on the Protobuf wire, with the items in field 1. */
export const wrapped = <N extends Node>(items: N): ListOf<N> => ({ kind: 'list', items, isWrapped: true })
/** Keys are always strings. */
export const map = <N extends Node>(values: N): MapOf<N> => ({ kind: 'map', values })
/** Another type, by package and name: `core/v1.PodSpec`. */
export const ref = <Name extends string>(name: Name): RefTo<Name> => ({ kind: 'ref', name })
export const variant = (forms: { object: Alternative; array?: Alternative; boolean?: Alternative }): VariantNode => ({
  kind: 'variant',
  ...forms,
})
