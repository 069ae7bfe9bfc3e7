import { generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto'
import { silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { Issuer, type OidcAlgorithm, OidcAuthenticator } from './oidc.ts'

const issuer = 'https://provider.example.com'
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one' }
const nowMs = 1_000_000
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token that the provider has signed with RS256. */
function aToken(): string {
  const text = `${encode({ alg: 'RS256', kid: 'one' })}.${encode({ iss: issuer, aud: 'orch', sub: 'jane', exp: 2_000 })}`
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
}

/** The result for that token while the provider publishes these keys. */
async function outcomeWith(keys: readonly JsonWebKey[], signingAlgorithms: readonly OidcAlgorithm[] = ['RS256', 'RS512', 'PS256']) {
  const options = {
    issuer,
    audiences: ['orch'],
    username: { kind: 'claim', claim: 'sub', prefix: '' },
    groups: undefined,
    uid: undefined,
    extra: new Map(),
    requiredClaims: {},
    claimConditions: [],
    userConditions: [],
    signingAlgorithms,
    fetchJson: async (url: string) => (url === `${issuer}/keys` ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }),
    clock: createFakeClock(),
    log: silentLog,
  } as const
  const outcome = await new OidcAuthenticator([new Issuer(options)]).authenticate(aToken(), { audiences: [], nowMs, timeoutMs: 1_000 })
  return outcome.kind === 'user' ? outcome.user.name : outcome.kind
}

test.each([
  ['absent', jwk],
  ['RS256', { ...jwk, alg: 'RS256' }],
])('AUTHN-OIDC-02: a key whose own algorithm is %s verifies a token signed with RS256', async (_alg, key) => {
  expect(await outcomeWith([key])).toBe('jane')
})

test.each([['RS512'], ['PS256'], ['RSA-OAEP']])(
  'AUTHN-OIDC-02: a key whose own algorithm is %s verifies no token signed with RS256, though both may be allowed',
  async (alg) => {
    expect(await outcomeWith([{ ...jwk, alg }])).toBe('refused')
  },
)

test('AUTHN-OIDC-02: a key that does not fit the algorithm of a token does not hide a key that fits', async () => {
  expect(
    await outcomeWith([
      { ...jwk, alg: 'RS512' },
      { ...jwk, alg: 'RS256' },
    ]),
  ).toBe('jane')
})

test('AUTHN-OIDC-02: a token with a forbidden algorithm is refused, for any key', async () => {
  expect(await outcomeWith([{ ...jwk, alg: 'RS256' }], ['RS512'])).toBe('refused')
})
