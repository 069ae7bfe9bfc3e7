/** structural */

export type { ExpressionRule, Junctors, SchemaType, StructuralSchema, ValueRules } from './schema.ts'
