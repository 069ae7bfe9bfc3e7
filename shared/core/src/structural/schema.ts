/** The types in a schema. */
export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'

/**
 * A structural schema, or a part of it: the form of a custom resource's values. It is created once from the
 * `openAPIV3Schema` of a version, without descriptions. Absent facets are omitted. Schemas within
 * junctors (`allOf`, `not` …) have the same form. Equal parts within a definition are shared.
 */
export interface StructuralSchema {
  /** Undefined if the schema states no type (int-or-string, preserved unknown fields, and most schemas within junctors). */
  readonly type?: SchemaType
  readonly nullable?: true
  /** Set if there is a default, whose value may be null. */
  readonly default?: { readonly value: unknown }
  /** Sorted by name. */
  readonly properties?: ReadonlyMap<string, StructuralSchema>
  readonly items?: StructuralSchema
  readonly additionalProperties?: StructuralSchema | boolean
  /** `x-kubernetes-preserve-unknown-fields` */
  readonly preservesUnknownFields?: true
  /** `x-kubernetes-embedded-resource` */
  readonly isEmbeddedResource?: true
  /** `x-kubernetes-int-or-string` */
  readonly isIntOrString?: true
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly values?: ValueRules
  readonly junctors?: Junctors
  /** `x-kubernetes-validations` */
  readonly rules?: readonly ExpressionRule[]
}

/** The validation rules of a schema besides its type. */
export interface ValueRules {
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly maximum?: number
  readonly exclusiveMaximum?: true
  readonly minimum?: number
  readonly exclusiveMinimum?: true
  readonly multipleOf?: number
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly uniqueItems?: true
}

/** Schemas combined by logic. */
export interface Junctors {
  readonly allOf?: readonly StructuralSchema[]
  readonly anyOf?: readonly StructuralSchema[]
  readonly oneOf?: readonly StructuralSchema[]
  readonly not?: StructuralSchema
}

/** A rule of `x-kubernetes-validations`. */
export interface ExpressionRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}
