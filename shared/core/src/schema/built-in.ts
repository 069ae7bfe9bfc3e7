import type { DescribedPackages } from '../api/packages.ts'
import type { FieldDefinition, InlineDefinition } from '../description/fields.ts'
import type { StringNode } from '../description/node.ts'
import type { StructDefinition } from '../description/structs.ts'
import type { ListOf, MapOf, RefTo } from '../description/values.ts'
import type { ObjectMeta } from '../meta/object-meta.ts'

/**
 * Objects of the built-in types after decoding, inferred from the descriptions in `api/`.
 *
 *   type Pod = BuiltIn<'core/v1.Pod'>   // { kind: string; apiVersion: string; metadata: ObjectMeta; spec: …; status: … }
 */
export type BuiltIn<Name extends TypeName> = Name extends 'meta/v1.ObjectMeta' ? ObjectMeta : ValueOfThunk<ThunkNamed<Name>>

/** A built-in object whose members may be replaced, such as a copy made by a write. */
export type MutableBuiltIn<Name extends TypeName> = { -readonly [Field in keyof BuiltIn<Name>]: BuiltIn<Name>[Field] }

/** Names of the built-in types: `core/v1.Pod`. */
export type TypeName = { [P in PackageName]: `${P}.${Extract<keyof TypesOf<P>, string>}` }[PackageName]

type PackageName = keyof DescribedPackages
type TypesOf<P extends PackageName> = DescribedPackages[P]['types']

type ThunkNamed<Name> = Name extends `${infer P}.${infer T}`
  ? P extends PackageName
    ? T extends keyof TypesOf<P>
      ? TypesOf<P>[T]
      : never
    : never
  : never

type ValueOfThunk<T> = T extends () => infer Made ? ValueOf<Made> : unknown

/** Value types by kind of node. */
interface Scalars {
  boolean: boolean
  int32: number
  int64: number
  double: number
  /** Base64. */
  bytes: string
  time: string
  microTime: string
  quantity: string
  intOrString: number | string
  raw: unknown
  json: unknown
  fieldsV1: Record<string, unknown>
}

type ValueOf<N> =
  N extends StructDefinition<infer M, infer HasTypeMeta>
    ? Flat<MembersOf<M> & (HasTypeMeta extends true ? { readonly kind: string; readonly apiVersion: string } : unknown)>
    : N extends RefTo<infer Name>
      ? BuiltInIfNamed<Name>
      : N extends ListOf<infer Item>
        ? readonly ValueOf<Item>[]
        : N extends MapOf<infer Value>
          ? Readonly<Record<string, ValueOf<Value>>>
          : N extends StringNode
            ? string
            : N extends { readonly kind: infer Kind extends keyof Scalars }
              ? Scalars[Kind]
              : unknown

/** One flat object type, for display in an editor. */
type Flat<T> = { [K in keyof T]: T[K] }

type MembersOf<M> = { readonly [F in AlwaysIn<M>]: FieldValue<M[F]> } & {
  readonly [F in Exclude<FieldsIn<M>, AlwaysIn<M>>]?: FieldValue<M[F]>
} & InlinedIn<M>

type FieldsIn<M> = { [F in keyof M]: M[F] extends FieldDefinition ? F : never }[keyof M]

/** Names of the fields that are always printed. */
type AlwaysIn<M> = {
  [F in keyof M]: M[F] extends FieldDefinition<infer N, infer P>
    ? P extends 'always' | 'nullable'
      ? F
      : P extends 'whenSet'
        ? N extends AlwaysPrinted
          ? F
          : IsStruct<N> extends true
            ? F
            : never
        : never
    : never
}[keyof M]

type AlwaysPrinted = { readonly kind: 'time' | 'microTime' | 'raw' | 'fieldsV1' | 'variant' }

type IsStruct<N> = N extends RefTo<infer Name> ? (ThunkNamed<Name> extends () => StructDefinition ? true : false) : false

type FieldValue<F> =
  F extends FieldDefinition<infer N, infer P>
    ? P extends 'nullable'
      ? ValueOf<N> | null
      : P extends 'always' | 'whenSet'
        ? N extends ListOf<infer _> | MapOf<infer _>
          ? P extends 'always'
            ? ValueOf<N> | null
            : ValueOf<N>
          : N extends AlwaysPrinted
            ? ValueOf<N> | null
            : ValueOf<N>
        : ValueOf<N>
    : never

type InlinedIn<M> = UnionToIntersection<
  { [F in keyof M]: M[F] extends InlineDefinition<infer Type> ? BuiltInIfNamed<Type> : never }[keyof M]
>

type BuiltInIfNamed<Name> = Name extends TypeName ? BuiltIn<Name> : unknown

type UnionToIntersection<U> = (U extends unknown ? (part: U) => void : never) extends (whole: infer I) => void ? I : never
