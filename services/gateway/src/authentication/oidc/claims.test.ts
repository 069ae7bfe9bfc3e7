import { compileClaims } from '@orch/core/expressions'
import { runAtOnce } from '@orch/core/steps'
import { expect, test } from 'vitest'
import { type ClaimRules, checkClaims } from './claims.ts'

const rules: ClaimRules = {
  issuer: 'https://provider.example.com',
  audiences: ['orch'],
  username: { kind: 'claim', claim: 'email', prefix: '' },
  groups: undefined,
  uid: undefined,
  extra: new Map(),
  requiredClaims: {},
  claimConditions: [],
  userConditions: [],
}
const claims = { aud: 'orch', exp: 2_000, sub: '1', email: 'jane@acme.com' }
const nowMs = 1_000_000
const check = (given: Readonly<Record<string, unknown>>, by: ClaimRules) => runAtOnce(checkClaims(given, by, nowMs))
const unverified = { kind: 'refused', reason: 'email_verified: the address is not verified' }

test.each([['true'], ['false'], [''], [1], [null], [false], [{}]])(
  'AUTHN-OIDC-20: an email address counts only if email_verified is the value true, and not %j',
  (isVerified) => {
    expect(check({ ...claims, email_verified: isVerified }, rules)).toEqual(unverified)
  },
)

test('AUTHN-OIDC-20: an email address counts if email_verified is true or absent, and is ignored for a name from another claim', () => {
  const nameOf = (given: object, claim: string) => {
    const outcome = check({ ...claims, ...given }, { ...rules, username: { kind: 'claim', claim, prefix: '' } })
    return outcome.kind === 'user' ? outcome.user.name : outcome.reason
  }
  expect([nameOf({ email_verified: true }, 'email'), nameOf({}, 'email'), nameOf({ email_verified: 'false' }, 'sub')]).toEqual([
    claims.email,
    claims.email,
    claims.sub,
  ])
})

test('MACH-ID-01: the ID of a token is an attribute of its user', () => {
  const extraOf = (given: object, more: Partial<ClaimRules> = {}) => {
    const outcome = check({ ...claims, ...given }, { ...rules, credentialKey: 'key', ...more })
    return outcome.kind === 'user' ? outcome.user.extra : outcome.reason
  }
  expect([extraOf({ jti: 'one' }), extraOf({}), extraOf({ jti: 1 }), extraOf({ jti: '' })]).toEqual([{ key: ['JTI=one'] }, {}, {}, {}])
  expect(extraOf({ jti: 'one' }, { credentialKey: undefined })).toEqual({})
})

/** The result of an expression about the claims for a part of a user. */
function madeBy(part: 'username' | 'groups' | 'uid' | 'extra', text: string, given: object = {}) {
  const expression = compileClaims(text, 'value')
  if (expression.kind === 'malformed') throw new Error(expression.problem)
  const mapping = { kind: 'expression', expression } as const
  const outcome = check({ ...claims, ...given }, { ...rules, [part]: part === 'extra' ? new Map([['a.com/b', expression]]) : mapping })
  if (outcome.kind === 'refused') return outcome.reason
  return part === 'username' ? outcome.user.name : outcome.user[part]
}

test('AUC-16: an expression for the name or the uid gives a string', () => {
  expect([madeBy('username', 'claims.sub'), madeBy('uid', "'u' + claims.sub")]).toEqual(['1', 'u1'])
  for (const text of ['1', 'null', "['a']", "''"])
    expect(madeBy('username', text)).toBe(`${text}: must be a text, as it is the user's name`)
  for (const text of ['1', 'null', "['a']"]) expect(madeBy('uid', text)).toBe(`${text}: must be a text, as it is the user's uid`)
  expect(madeBy('username', 'claims.none')).toBe('claims.none: no such key: none')
})

test('AUC-16: an expression for groups and attributes gives a string or a list of strings; null and empty strings are left out', () => {
  const given = { roles: ['a', '', 'b'], none: null }
  const parts = ['groups', 'extra'] as const
  const both = (text: string) => parts.map((part) => madeBy(part, text, given))
  expect(both('claims.roles')).toEqual([['a', 'b'], { 'a.com/b': ['a', 'b'] }])
  expect(both("'a'")).toEqual([['a'], { 'a.com/b': ['a'] }])
  for (const text of ['claims.none', "''", '[]', "['']"]) expect(both(text)).toEqual([[], {}])
  for (const text of ['1', 'true', '[1]', "{'a': 'b'}"])
    expect(both(text)).toEqual(Array(2).fill(`${text}: must be a text or a list of texts`))
})

test('AUC-16: an expression that costs too much refuses the token', () => {
  const many = Array.from({ length: 400 }, (_, index) => index)
  const text = "claims.many.all(a, claims.many.all(b, claims.many.all(c, true))) ? 'a' : 'b'"
  expect(madeBy('username', text, { many })).toContain('cost limit exceeded')
})

test('AUC-16: other work may run after each expression', () => {
  const compiled = compileClaims('true', 'value')
  const text = compileClaims("'a'", 'value')
  if (compiled.kind === 'malformed' || text.kind === 'malformed') throw new Error('an expression does not compile')
  const claimConditions = Array.from({ length: 5 }, () => ({ expression: compiled, message: '' }))
  const extra = new Map(['a.com/b', 'a.com/c'].map((key) => [key, text]))
  expect([...checkClaims(claims, { ...rules, claimConditions, extra }, nowMs)]).toHaveLength(5 + 2)
})
