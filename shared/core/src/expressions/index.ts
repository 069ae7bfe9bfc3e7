/** Expressions in CEL of configuration files: about the claims of a token, the user that they make, and accesses. */
export { type AccessCondition, compileAccessCondition } from './access-condition.ts'
export { type ClaimExpression, compileClaims, compileUser } from './claim-expression.ts'
export type { Malformed } from './expression.ts'
