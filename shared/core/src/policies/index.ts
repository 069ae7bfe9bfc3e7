/** CEL policies and match conditions: compilation, and decisions about a request. */
export { type CompiledCondition, type ConditionsReport, compileConditions, reportConditions } from './conditions.ts'
export type { AdmissionRequestInput, PolicyInput } from './evaluation.ts'
export { type CompiledMutatingPolicy, compileMutatingPolicy, type MutatedKind, mutateBy } from './mutating.ts'
export type { OpenApiSchema } from './openapi-types.ts'
export * from './spec.ts'
export * from './type-checking.ts'
export { type CompiledPolicy, compileValidatingPolicy, evaluatePolicy, type PolicyDecision } from './validating.ts'
