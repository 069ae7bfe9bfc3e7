/**
 * The form of a value of an API type. Types are declared with the builders of this folder in `api/`,
 * and read by tables with one function per kind of node, so that a missing kind does not compile.
 */
export type Node =
  | ScalarNode
  | StringNode
  | ({ readonly kind: 'list'; readonly items: Node; readonly isWrapped?: boolean } & ListFacets)
  | ({ readonly kind: 'map'; readonly values: Node } & MapFacets)
  | { readonly kind: 'ref'; readonly name: string }
  | VariantNode
  | StructNode

/** A text, optionally with a list of values. */
export interface StringNode {
  readonly kind: 'string'
  readonly values?: readonly string[]
  readonly isClosed?: boolean
  /** True if validation refuses other values. Messages list the values in this order. */
  readonly isEnforced?: boolean
  readonly format?: TextFormat
  /** Maximum length in UTF-8. */
  readonly bytesMax?: number
  /** The first level whose message counts characters. */
  readonly charactersSince?: number
  /** Values that only some levels have → the first and the last level. */
  readonly valuesSince?: Readonly<Record<string, number>>
  readonly valuesUntil?: Readonly<Record<string, number>>
}

/** Text formats that validation checks; see `validation/formats.ts`. */
export type TextFormat =
  | 'label'
  | 'label1035'
  | 'subdomain'
  | 'longName'
  | 'qualifiedName'
  | 'labelValue'
  | 'pathSegment'
  | 'dataKey'
  | 'portName'
  | 'canonicalCidr'
  | 'variableName'
  | 'relaxedVariableName'
  | 'iscsiName'
  | 'storedIscsiName'
  | 'reason'
  | 'driverName'
  | 'caselessDriverName'
  | 'interfaceAddress'
  | 'uuid'

/** Validation rules of a number. Without a detail the message names the bounds. */
export interface NumberFacets {
  readonly min?: number
  readonly max?: number
  readonly detail?: string
}

/** Validation rules of a list. */
export interface ListFacets {
  readonly itemsMax?: number
  /** With an item `*`, no other item is allowed. The value is the noun for the other items in messages. */
  readonly starExcludes?: string
  /** Items must be unique: as a whole, or by the value of this field. */
  readonly isUnique?: true
  readonly uniqueBy?: string
  /** The first level that reports a duplicate item by its index, without the field. */
  readonly isPlacedSince?: number
  /** True if keys that are invalid are not compared. */
  readonly comparesSound?: true
  /** The field in which items must differ, or '' for the items themselves. Duplicates are reported together with their indexes. */
  readonly keyedBy?: string
  readonly isSet?: true
}

/** Validation rules of a map of texts. */
export interface MapFacets {
  readonly isLabels?: true
}

/** Kinds of values without inner structure, except for texts, which may have a list of values. */
const scalarKinds = [
  'boolean',
  'int32',
  'int64',
  'double',
  'bytes',
  'time',
  'microTime',
  'quantity',
  'intOrString',
  'raw',
  'json',
  'fieldsV1',
] as const

/** Values without inner structure. */
export interface ScalarNode extends NumberFacets {
  readonly kind: (typeof scalarKinds)[number]
  /** The allowed sign of a quantity. */
  readonly sign?: 'positive' | 'notNegative'
  /** The meaning of a number or text: a port by number or name, or a count or percentage such as `25%`. */
  readonly means?: 'port' | 'count'
}

const scalars: ReadonlySet<string> = new Set(scalarKinds)

/** True for a scalar node. */
export function isScalar(node: Node): node is ScalarNode {
  return scalars.has(node.kind)
}

/** In JSON, a value with one of several types; on the Protobuf wire, a message with one field per type. */
export interface VariantNode {
  readonly kind: 'variant'
  readonly object: Alternative
  readonly array?: Alternative
  readonly boolean?: Alternative
}

export interface Alternative {
  readonly tag: number
  readonly node: Node
}

/** Named fields in the order in which they are printed. */
export interface StructNode {
  readonly kind: 'struct'
  readonly fields: readonly Field[]
  /** True for a struct with `kind` and `apiVersion`, which the Protobuf envelope contains. */
  readonly hasTypeMeta: boolean
  /** `atomic` if server-side apply owns the struct as a whole instead of by field. */
  readonly structType?: 'atomic'
  readonly isUnion?: boolean
  readonly hasNoProtobuf?: boolean
  readonly doc?: string
  /** The first and the last level that have the type, by minor version. */
  readonly since?: number
  readonly until?: number
  /** Level → changes from that level on. */
  readonly changes?: Readonly<Record<number, { readonly structType?: 'atomic' }>>
}

/** A field of a struct, with everything that any reader needs. */
export interface Field extends FieldFacets {
  readonly name: string
  readonly node: Node
  /** The Protobuf field number; undefined if the field is not on the wire. */
  readonly tag?: number
  /** Set if the field is inside this nested message on the wire and flat in JSON. */
  readonly inlined?: Inlined
}

/** A struct whose fields are flat in JSON, and in a separate message on the wire. */
export interface Inlined {
  readonly type: string
  readonly tag: number
  /** Set if the field is within another message inside that message. */
  readonly inner?: Inlined
}

/** Facets of a field. By default, a field is optional and omitted from output if empty. */
export interface FieldFacets {
  /** True if the field is in `required` of the published schema. Such a field is printed even if empty. */
  readonly required?: boolean
  /** True if the field is in `required` although a body may omit it. */
  readonly listedAsRequired?: boolean
  /** True for an optional field that is printed even if empty. */
  readonly keepEmpty?: boolean
  /** True if absence differs from the zero value. */
  readonly pointer?: boolean
  /** True if a zero value is omitted although its kind is always printed. */
  readonly omitsZero?: boolean
  readonly default?: string | number | boolean
  /** Set if validation requires the field, with this detail. A text, list, map or non-pointer number must then not be empty. */
  readonly needed?: true | string
  /** True if validation checks the field even if it is empty. */
  readonly isAlwaysChecked?: true
  /** True if updates must not change the field. */
  readonly isImmutable?: true
  /**
   * The first level at which errors of these facets come after all others, because kube-apiserver has moved them to declarative validation.
   * Errors within list items are not affected.
   */
  readonly declaredSince?: number
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'
  readonly patchMergeKey?: string
  /** The list type for server-side apply. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly structType?: 'atomic' | 'granular'
  /** The feature gate without which writes drop the field, unless the live object has it. */
  readonly featureGate?: string
  /** Set if the struct with the field is dropped too: always, or only if it becomes empty. */
  readonly dropsPart?: 'always' | 'whenEmpty'
  /** The field's value while the gate is off, instead of dropping it. */
  readonly valueWhenOff?: string
  /** True for a value that does not need the feature, in items of a list. */
  readonly keptWhenOff?: (value: unknown, list: string) => boolean
  /** Values or items that need a feature, unless the live object has them: value → feature. */
  readonly gatedValues?: Readonly<Record<string, string>>
  readonly unionDiscriminator?: boolean
  readonly doc?: string
  /** The first level that has the field, by minor version. Default: all levels up to `until`. */
  readonly since?: number
  /** The last level that has the field. */
  readonly until?: number
  /** Level → facets that change from that level on; undefined removes a facet. */
  readonly changes?: Readonly<Record<number, FieldChange>>
}

/** The change of a field at a level. */
type FieldChange = { readonly [Facet in Exclude<keyof FieldFacets, 'since' | 'until' | 'changes'>]?: FieldFacets[Facet] | undefined } & {
  readonly node?: Node
}

/**
 * Structs nested deeper than this are refused. Only recursive types can be that deep, and code that recurses
 * over decoded values relies on this limit. It equals the limit of Protobuf messages, so that both can carry the value.
 */
export const structDepthMax = 500

/** The values of absent texts, truth values and numbers that cannot be absent. */
export const scalarZeros = { string: '', boolean: false, int32: 0, int64: 0, double: 0 } as const
