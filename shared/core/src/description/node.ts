/**
 * The form of a value of an API type. Types are written with the builders of `define.ts`, kept in `api/`,
 * and read by tables with one function per kind of node, so a kind that a reader forgets does not compile.
 */
export type Node =
  | ScalarNode
  | StringNode
  | ({ readonly kind: 'list'; readonly items: Node; readonly isWrapped?: boolean } & ListFacets)
  | ({ readonly kind: 'map'; readonly values: Node } & MapFacets)
  | { readonly kind: 'ref'; readonly name: string }
  | VariantNode
  | StructNode

/** A text, perhaps bound to a list of values. */
export interface StringNode {
  readonly kind: 'string'
  readonly values?: readonly string[]
  readonly isClosed?: boolean
  /** The rules refuse other values. They list the values in this order. */
  readonly isEnforced?: boolean
  readonly format?: TextFormat
  /** In UTF-8. */
  readonly bytesMax?: number
  /** First level at which a message calls them characters. */
  readonly charactersSince?: number
  /** Values that are not in every level → the first level, and the last one. */
  readonly valuesSince?: Readonly<Record<string, number>>
  readonly valuesUntil?: Readonly<Record<string, number>>
}

/** Formats of texts in the rules; `validation/formats.ts` has their checks. */
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

/** The rules of a number. Without a detail they name the bounds. */
export interface NumberFacets {
  readonly min?: number
  readonly max?: number
  readonly detail?: string
}

/** The rules of a list. */
export interface ListFacets {
  readonly itemsMax?: number
  /** An item `*` means all, and the list has no other item then. Messages call the other items by this name. */
  readonly starExcludes?: string
  /** Each item is unique: by itself, or by this field, if it has a value. */
  readonly isUnique?: true
  readonly uniqueBy?: string
  /** First level at which a repeated item is named by its place, without the field. */
  readonly isPlacedSince?: number
  /** A key that is wrong itself is not compared. */
  readonly comparesSound?: true
  /** Each item has another value in this field, or is another text. Repeated ones are reported together, by their places. */
  readonly keyedBy?: string
  readonly isSet?: true
}

/** The rules of a map of texts. */
export interface MapFacets {
  readonly isLabels?: true
}

/** Kinds of values without inner structure of their own, but for texts, which may be bound to a list of values. */
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

/** Values without inner structure of their own. */
export interface ScalarNode extends NumberFacets {
  readonly kind: (typeof scalarKinds)[number]
  /** The allowed sign of a quantity. */
  readonly sign?: 'positive' | 'notNegative'
  /** The meaning of a number or text: a port by number or name, or a count or a share such as `25%`. */
  readonly means?: 'port' | 'count'
}

const scalars: ReadonlySet<string> = new Set(scalarKinds)

/** True if readers look a node up in their table by kind. */
export function isScalar(node: Node): node is ScalarNode {
  return scalars.has(node.kind)
}

/** JSON takes one of several forms, distinguished by its type; on the Protobuf wire it is a message with one field per form. */
export interface VariantNode {
  readonly kind: 'variant'
  readonly object: Alternative
  readonly array?: Alternative
  readonly boolean?: Alternative
}

export interface Alternative {
  readonly tag: number
  readonly protoName: string
  readonly node: Node
}

/** Named fields in the order in which they are printed. */
export interface StructNode {
  readonly kind: 'struct'
  readonly fields: readonly Field[]
  /** Has `kind` and `apiVersion`. On the Protobuf wire these travel in the envelope. */
  readonly hasTypeMeta: boolean
  /** Server-side apply owns it as a whole or field by field. */
  readonly structType?: 'atomic'
  readonly isUnion?: boolean
  readonly hasNoProtobuf?: boolean
  readonly doc?: string
  /** First level and last level that have the type, by their minor numbers. */
  readonly since?: number
  readonly until?: number
  /** Level → the changes from it on. */
  readonly changes?: Readonly<Record<number, { readonly structType?: 'atomic' }>>
}

/** One field of a struct with everything that any reader wants to know of it. */
export interface Field extends FieldFacets {
  readonly name: string
  readonly node: Node
  /** On the wire the field is inside this nested message; in JSON it is flat. */
  readonly inlined?: Inlined
}

/** A struct whose fields are flat in JSON, and a message of their own on the wire. */
export interface Inlined {
  readonly type: string
  readonly tag: number
  readonly protoName: string
  /** In that message the field is inside another one. */
  readonly inner?: Inlined
}

/** Facets of a field. Without any, a field is optional and left out of the output when empty. */
export interface FieldFacets {
  /** Protobuf field number. Absent: not on the wire. */
  readonly tag?: number
  /** Protobuf field name, where it differs. */
  readonly protoName?: string
  /** Listed in `required` of the published schema. Such a field is printed even when empty. */
  readonly required?: boolean
  /** Listed there too, though a body may leave it out. */
  readonly listedAsRequired?: boolean
  /** Optional, yet printed when empty. */
  readonly keepEmpty?: boolean
  /** Absence and the zero value are different values. */
  readonly pointer?: boolean
  /** Left out while it is zero, though its kind of value is printed in any case. */
  readonly omitsZero?: boolean
  readonly default?: string | number | boolean
  /** The rules require it, with this detail. A text, list, map or number that is no pointer may not be empty then. */
  readonly needed?: true | string
  /** The rules look at it even when it is empty. */
  readonly isAlwaysChecked?: true
  /** An update may not change it. */
  readonly isImmutable?: true
  /**
   * First level at which the causes of these facets come after all others, since kube-apiserver has them in its declarative validation.
   * Causes within the items of a list are not meant.
   */
  readonly declaredSince?: number
  /** Strategic merge. */
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'
  readonly patchMergeKey?: string
  /** Server-side apply. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly structType?: 'atomic' | 'granular'
  /** While this feature is off, the field is dropped from writes, unless the object had it before. */
  readonly featureGate?: string
  /** The part that has the field is dropped with it: as a whole, or if nothing of it is left. */
  readonly dropsPart?: 'always' | 'whenEmpty'
  /** The field's value while the gate is off, if it is not dropped. */
  readonly valueWhenOff?: string
  /** A value that needs no feature in the items of one list. */
  readonly keptWhenOff?: { readonly list: string; readonly value: string }
  /** Values, or items, that are refused while a feature is off, unless the object had them before: value → feature. */
  readonly gatedValues?: Readonly<Record<string, string>>
  readonly unionDiscriminator?: boolean
  /** Called required by the type's author although the published schema lets it be absent. */
  readonly markedRequired?: boolean
  readonly doc?: string
  /** First level that has the field, by its minor number. Absent: all levels up to `until` have it. */
  readonly since?: number
  /** Last level that has it. */
  readonly until?: number
  /** Level → the facets that change from it on; undefined removes the facet. */
  readonly changes?: Readonly<Record<number, FieldChange>>
}

/** The change of a field at a level. */
type FieldChange = { readonly [Facet in Exclude<keyof FieldFacets, 'since' | 'until' | 'changes'>]?: FieldFacets[Facet] | undefined } & {
  readonly node?: Node
}

/**
 * Deeper nested structs are refused. Only types that contain themselves get there at all, and code that walks
 * a decoded value by recursion relies on it. As deep as messages of Protobuf may be, so that both can carry the value.
 */
export const structDepthMax = 500
