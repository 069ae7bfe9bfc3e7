import { listOf, mapOf, objectOf, types } from '@orch/cel/types'
import type { User } from '../contracts/index.ts'
import { type Expression, ExpressionCompiler, type Malformed, type Purpose, typesNamed } from './expression.ts'

/** An expression about the claims of a token, or about the user that results from the claims. */
export type ClaimExpression<Input> = Expression<Input>

/** Claims of a token. */
type Claims = Readonly<Record<string, unknown>>

const { string, dyn } = types
const userType = 'kubernetes.UserInfo'

const claims = new ExpressionCompiler<Claims>({ variable: 'claims', type: mapOf(string, dyn), toValue: (given) => given })
const user = new ExpressionCompiler<User>({
  variable: 'user',
  type: objectOf(userType),
  provider: typesNamed({
    [userType]: { username: string, uid: string, groups: listOf(string), extra: mapOf(string, listOf(string)) },
  }),
  toValue: ({ name, uid, groups, extra }) => ({ username: name, uid, groups, extra }),
})

/** Compiles an expression on the variable `claims`. */
export function compileClaims(text: string, purpose: Purpose): ClaimExpression<Claims> | Malformed {
  return claims.compile(text, purpose)
}

/** Compiles a condition on the variable `user`. */
export function compileUser(text: string): ClaimExpression<User> | Malformed {
  return user.compile(text, 'condition')
}
