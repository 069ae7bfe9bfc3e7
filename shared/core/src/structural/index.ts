/** structural */

export { parseStructuralInSteps } from './parse.ts'
export { type CustomFacts, StructuralReaders } from './readers.ts'
export { readScale, withReplicas } from './scale.ts'
export type { ExpressionRule, Junctors, SchemaType, StructuralSchema, ValueRules } from './schema.ts'
export { shapeOfCustomObject } from './shape.ts'
