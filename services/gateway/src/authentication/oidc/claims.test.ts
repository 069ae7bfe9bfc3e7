import { expect, test } from 'vitest'
import { type ClaimRules, checkClaims } from './claims.ts'

const rules: ClaimRules = {
  issuer: 'https://provider.example.com',
  clientId: 'orch',
  usernameClaim: 'email',
  usernamePrefix: '',
  groupsClaim: '',
  groupsPrefix: '',
  requiredClaims: {},
}
const claims = { aud: 'orch', exp: 2_000, sub: '1', email: 'jane@acme.com' }
const nowMs = 1_000_000
const unverified = { kind: 'refused', reason: 'email_verified: the address is not verified' }

test.each([['true'], ['false'], [''], [1], [null], [false], [{}]])(
  'AUTHN-OIDC-20: an address counts only where email_verified is true itself, and not %j',
  (isVerified) => {
    expect(checkClaims({ ...claims, email_verified: isVerified }, rules, nowMs)).toEqual(unverified)
  },
)

test('AUTHN-OIDC-20: an address counts where email_verified is true or absent, and for another name it says nothing', () => {
  const nameOf = (given: object, usernameClaim: string) => {
    const outcome = checkClaims({ ...claims, ...given }, { ...rules, usernameClaim }, nowMs)
    return outcome.kind === 'user' ? outcome.user.name : outcome.reason
  }
  expect([nameOf({ email_verified: true }, 'email'), nameOf({}, 'email'), nameOf({ email_verified: 'false' }, 'sub')]).toEqual([
    claims.email,
    claims.email,
    claims.sub,
  ])
})
