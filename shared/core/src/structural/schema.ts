/** The types that a schema names. */
export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'

/**
 * A structural schema: the form of a custom resource's values, at one place of it. It is made once from the
 * `openAPIV3Schema` of a definition's version, without the texts for people. Absent facets are left out. Schemas within
 * junctors (`allOf`, `not` …) have the same form. Equal parts of one definition are one value.
 */
export interface StructuralSchema {
  /** Absent: nothing is said of the type (int-or-string, unknown fields that are kept, and most schemas within junctors). */
  readonly type?: SchemaType
  readonly nullable?: true
  /** Given where a default is given, which may be null. */
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

/** The rules of a schema for a value besides its type. */
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

/** Schemas joined by logic. */
export interface Junctors {
  readonly allOf?: readonly StructuralSchema[]
  readonly anyOf?: readonly StructuralSchema[]
  readonly oneOf?: readonly StructuralSchema[]
  readonly not?: StructuralSchema
}

/** One rule of `x-kubernetes-validations`. */
export interface ExpressionRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: string
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}
