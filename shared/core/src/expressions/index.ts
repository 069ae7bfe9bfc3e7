/** CEL expressions in configuration files, about token claims, the resulting user, and accesses. */
export { type AccessCondition, compileAccessCondition } from './access-condition.ts'
export { type ClaimExpression, compileClaims, compileUser } from './claim-expression.ts'
export type { Malformed } from './expression.ts'
