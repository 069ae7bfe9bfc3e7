/**
 * Messages of the contracts between services, described once as data: the TypeScript type is inferred from the
 * description, and the wire form (Protobuf) is built from it. In process a message is passed unchanged.
 *
 *   const getRequest = message({ key: string(1), read: union(2, { latest: message({}), exact: message({ revision: int64(1) }) }) })
 *   type GetRequest = Static<typeof getRequest>   // { key: string; read: { kind: 'latest' } | { kind: 'exact'; revision: number } }
 */
export type WireType = 'string' | 'bytes' | 'bool' | 'int64' | 'double' | 'json'

export interface ScalarField<T, P extends Presence> {
  readonly kind: 'scalar'
  readonly tag: number
  readonly wire: WireType
  readonly presence: P
  /** For type inference only; never set. */
  readonly sample?: T
}

export interface MessageField<F extends Fields, P extends Presence> {
  readonly kind: 'message'
  readonly tag: number
  readonly message: Message<F>
  readonly presence: P
}

export interface UnionField<V extends Variants, P extends Presence> {
  readonly kind: 'union'
  readonly tag: number
  readonly union: Union<V>
  readonly presence: P
}

/** `map` is a map from string to string. */
export interface MapField {
  readonly kind: 'map'
  readonly tag: number
  readonly presence: 'one'
}

/** A value for callers in the same process. It is absent on the wire. */
export interface LocalField<T> {
  readonly kind: 'local'
  readonly presence: 'optional'
  /** For type inference only; never set. */
  readonly sample?: T
}

export type Presence = 'one' | 'optional' | 'many'
// biome-ignore lint/suspicious/noExplicitAny: the type parameters are inferred, never written
export type Field = ScalarField<any, Presence> | MessageField<any, Presence> | UnionField<any, Presence> | MapField
export interface Fields {
  readonly [name: string]: Field | LocalField<unknown>
}
export interface Variants {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly [kind: string]: Message<any>
}

export interface Message<F extends Fields> {
  readonly kind: 'message-type'
  readonly fields: F
}

/** Alternatives distinguished by `kind`. On the wire: one optional message field per variant, tags in order of declaration from 1. */
export interface Union<V extends Variants> {
  readonly kind: 'union-type'
  readonly variants: V
}

type Present<T, P extends Presence> = P extends 'many' ? readonly T[] : T
type FieldValue<F> =
  F extends ScalarField<infer T, infer P>
    ? Present<T, P>
    : F extends MessageField<infer G, infer P>
      ? Present<StaticFields<G>, P>
      : F extends UnionField<infer V, infer P>
        ? Present<StaticVariants<V>, P>
        : F extends MapField
          ? Readonly<Record<string, string>>
          : F extends LocalField<infer T>
            ? T
            : never
type OptionalNames<F extends Fields> = { [N in keyof F]: F[N] extends { readonly presence: 'optional' } ? N : never }[keyof F]
type StaticFields<F extends Fields> = { readonly [N in Exclude<keyof F, OptionalNames<F>>]: FieldValue<F[N]> } & {
  readonly [N in OptionalNames<F>]?: FieldValue<F[N]> | undefined
}
type StaticVariants<V extends Variants> = {
  [K in keyof V]: { readonly kind: K } & (V[K] extends Message<infer F> ? StaticFields<F> : never)
}[keyof V]

/** The TypeScript type of a message or union description. */
export type Static<M> = M extends Message<infer F> ? StaticFields<F> : M extends Union<infer V> ? StaticVariants<V> : never

export function message<const F extends Fields>(fields: F): Message<F> {
  return { kind: 'message-type', fields }
}

export function variants<const V extends Variants>(kinds: V): Union<V> {
  return { kind: 'union-type', variants: kinds }
}

const scalar =
  <T>(wire: WireType) =>
  (tag: number): ScalarField<T, 'one'> => ({ kind: 'scalar', tag, wire, presence: 'one' })

export const string = scalar<string>('string')
export const bytes = scalar<Uint8Array>('bytes')
export const bool = scalar<boolean>('bool')
/** A whole number within ±2^53. */
export const int64 = scalar<number>('int64')
export const double = scalar<number>('double')

/** Plain data that the contract does not describe further; JSON text on the wire. */
export function json<T>(tag: number): ScalarField<T, 'one'> {
  return { kind: 'scalar', tag, wire: 'json', presence: 'one' }
}

export function nested<F extends Fields>(tag: number, type: Message<F>): MessageField<F, 'one'> {
  return { kind: 'message', tag, message: type, presence: 'one' }
}

export function union<V extends Variants>(tag: number, type: Union<V>): UnionField<V, 'one'> {
  return { kind: 'union', tag, union: type, presence: 'one' }
}

export function stringMap(tag: number): MapField {
  return { kind: 'map', tag, presence: 'one' }
}

export function local<T>(): LocalField<T> {
  return { kind: 'local', presence: 'optional' }
}

type WithPresence<F, P extends Presence> =
  F extends ScalarField<infer T, Presence>
    ? ScalarField<T, P>
    : F extends MessageField<infer G, Presence>
      ? MessageField<G, P>
      : F extends UnionField<infer V, Presence>
        ? UnionField<V, P>
        : never

/** The field may be absent. */
export function optional<F extends Exclude<Field, MapField>>(field: F): WithPresence<F, 'optional'> {
  return { ...field, presence: 'optional' } as unknown as WithPresence<F, 'optional'>
}

/** The field is a list; absent on the wire means empty. */
export function many<F extends Exclude<Field, MapField>>(field: F): WithPresence<F, 'many'> {
  return { ...field, presence: 'many' } as unknown as WithPresence<F, 'many'>
}
