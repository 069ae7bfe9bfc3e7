/** Expressions in CEL about the claims of a token, and about the user that they make. */
export { type ClaimExpression, compileClaims, compileUser, type Malformed } from './claim-expression.ts'
