import { createHmac, createPublicKey, sign } from 'node:crypto'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { call, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'
import { aCurveKey, aKey, anOidcProvider } from './oidc-provider.ts'

const key = aKey('one')
const nowSeconds = () => Math.floor(Date.now() / 1_000)

type OidcProvider = Awaited<ReturnType<typeof anOidcProvider>>

async function aServer(
  provider: Pick<OidcProvider, 'issuer' | 'caFile'>,
  flags: readonly string[] = [],
  clock?: ReturnType<typeof createFakeClock>,
) {
  const server = await start({
    flags: [
      '--authorization-mode=AlwaysAllow',
      '--anonymous-auth',
      `--oidc-issuer-url=${provider.issuer}`,
      '--oidc-client-id=orch',
      `--oidc-ca-file=${provider.caFile}`,
      ...flags,
    ],
    ...(clock === undefined ? {} : { clock }),
  })
  onTestFinished(() => server.stop())
  return server
}

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** A token that the test signs and that no provider would issue. */
function aToken(claims: object, header: object = {}, signingKey = key.key): string {
  const text = [{ alg: 'RS256', kid: 'one', ...header }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${text}.${sign('sha256', Buffer.from(text), { key: signingKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

test('AUTHN-OIDC-01, AUTHN-OIDC-04, AUTHN-OIDC-09, AUTHN-OIDC-18: an ID token names its user; the provider is asked once', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider)
  for (const sub of ['jane', 'john']) {
    const token = await provider.token({ sub })
    expect(await whoAmI(server, as(token))).toEqual({ username: `${provider.issuer}#${sub}`, groups: ['system:authenticated'] })
  }
  expect(provider.asked.filter((path) => path !== '/token')).toEqual(['/.well-known/openid-configuration', '/jwks'])
})

test('AUTHN-OIDC-15, AUTHN-OIDC-19, AUTHN-OIDC-21, AUTHN-OIDC-24: claims become name and groups', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider, [
    '--oidc-username-claim=login',
    '--oidc-username-prefix=-',
    '--oidc-groups-claim=teams',
    '--oidc-groups-prefix=oidc:',
    '--oidc-required-claim=hd=acme.com',
    '--oidc-required-claim=azp=deployer',
  ])
  const claims = { sub: '1', login: 'jane', teams: ['dev', 'system:masters'], hd: 'acme.com', azp: 'deployer' }
  expect(await whoAmI(server, as(await provider.token(claims)))).toMatchObject({
    username: 'jane',
    groups: ['oidc:dev', 'oidc:system:masters', 'system:authenticated'],
  })
  for (const wrong of [{ hd: 'evil.com' }, { hd: ['acme.com'] }, { azp: 'other' }, { teams: [1] }, { login: '' }]) {
    expect(await whoAmI(server, as(await provider.token({ ...claims, ...wrong })))).toBeUndefined()
  }
})

test('AUTHN-OIDC-17: a configured prefix precedes the names of users', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider, ['--oidc-username-prefix=oidc:'])
  expect(await whoAmI(server, as(await provider.token({ sub: 'system:admin' })))).toMatchObject({ username: 'oidc:system:admin' })
})

test('AUTHN-OIDC-09, AUTHN-OIDC-13: the discovery document is below the path of the issuer', async () => {
  const provider = await anOidcProvider(key, { path: '/realms/acme' })
  const server = await aServer(provider)
  expect(await whoAmI(server, as(await provider.token({ sub: 'jane' })))).toMatchObject({ username: `${provider.issuer}#jane` })
  expect(provider.asked).toContain('/realms/acme/.well-known/openid-configuration')
})

test('AUTHN-OIDC-21, AUTHN-OIDC-22: a single group may be a string, and without a claim the user has no groups', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider, ['--oidc-groups-claim=groups', '--oidc-groups-prefix=oidc:'])
  for (const [groups, expected] of [
    ['dev', ['oidc:dev']],
    [[], []],
    [null, []],
    [undefined, []],
  ]) {
    const claims = { iss: provider.issuer, sub: 'jane', aud: 'orch', exp: nowSeconds() + 60, groups }
    expect(await whoAmI(server, as(aToken(claims)))).toMatchObject({ groups: [...(expected as string[]), 'system:authenticated'] })
  }
  for (const groups of [{ dev: true }, 1, ['dev', null]]) {
    const claims = { iss: provider.issuer, sub: 'jane', aud: 'orch', exp: nowSeconds() + 60, groups }
    expect(await whoAmI(server, as(aToken(claims)))).toBeUndefined()
  }
})

test('AUTHN-OIDC-02: only signatures with allowed algorithms are accepted', async () => {
  const curve = aCurveKey('curve')
  const provider = await anOidcProvider(curve)
  const claims = { iss: provider.issuer, sub: 'jane', aud: 'orch', exp: nowSeconds() + 60 }
  const token = aToken(claims, { alg: 'ES256', kid: 'curve' }, curve.key)
  expect(await whoAmI(await aServer(provider, ['--oidc-signing-algs=RS256,ES256']), as(token))).toMatchObject({
    username: `${provider.issuer}#jane`,
  })
  expect(await whoAmI(await aServer(provider), as(token))).toBeUndefined()
})

test('AUTHN-OIDC-04: a provider that is unreachable at the start is asked again, and is not needed later with known keys', async () => {
  const provider = await anOidcProvider(key)
  const clock = createFakeClock(Date.now())
  const jane = as(await provider.token({ sub: 'jane', exp: nowSeconds() + 7_200 }))
  await provider.goDown()
  const server = await aServer(provider, [], clock)
  expect(await whoAmI(server, jane)).toBeUndefined()
  expect((await call(server, {})).code).toBe(200)
  await provider.comeBack()
  clock.advance(10_000)
  expect(await whoAmI(server, jane)).toMatchObject({ username: `${provider.issuer}#jane` })
  const john = as(await provider.token({ sub: 'john', exp: nowSeconds() + 7_200 }))
  await provider.goDown()
  expect(await whoAmI(server, john)).toMatchObject({ username: `${provider.issuer}#john` })
  clock.advance(3_600_000)
  expect(await whoAmI(server, jane)).toMatchObject({ username: `${provider.issuer}#jane` })
})

test('AUTHN-OIDC-25: without a CA file the authorities of the machine decide, and refuse this provider', async () => {
  const provider = await anOidcProvider(key)
  const flags = ['--authorization-mode=AlwaysAllow', `--oidc-issuer-url=${provider.issuer}`, '--oidc-client-id=orch']
  const server = await start({ flags })
  onTestFinished(() => server.stop())
  expect(await whoAmI(server, as(await provider.token({ sub: 'jane' })))).toBeUndefined()
})

test('AUTHN-OIDC-07, AUTHN-OIDC-14: a token for another client is refused, and a token for several clients is accepted if it includes ours', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider)
  expect(await whoAmI(server, as(await provider.token({ sub: 'jane' }, 'other')))).toBeUndefined()
  const claims = { iss: provider.issuer, sub: 'jane', aud: ['other', 'orch'], azp: 'other', exp: nowSeconds() + 60 }
  expect(await whoAmI(server, as(aToken(claims)))).toMatchObject({ username: `${provider.issuer}#jane` })
})

test('AUTHN-OIDC-02: a rotated key is accepted as soon as a token uses it, and the old key is not', async () => {
  const provider = await anOidcProvider(key)
  const clock = createFakeClock(Date.now())
  const server = await aServer(provider, [], clock)
  const old = await provider.token({ sub: 'jane' })
  expect(await whoAmI(server, as(old))).toBeDefined()
  const second = aKey('two')
  await provider.rotate(second)
  const fresh = await provider.token({ sub: 'john' })
  expect(await whoAmI(server, as(fresh))).toMatchObject({ username: `${provider.issuer}#john` })
  clock.advance(10_000)
  expect(await whoAmI(server, as(old))).toBeUndefined()
})

test('AUTHN-OIDC-04: tokens with unknown keys do not each cause a request', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider, [], createFakeClock(Date.now()))
  for (let round = 0; round < 15; round += 1) {
    const claims = { iss: provider.issuer, sub: `${round}`, aud: 'orch', exp: nowSeconds() + 60 }
    expect(await whoAmI(server, as(aToken(claims, { kid: `unknown-${round}` })))).toBeUndefined()
  }
  // One request for the discovery document and ten for the keys.
  expect(provider.asked).toHaveLength(11)
})

test('AUTHN-OIDC-01, AUTHN-OIDC-02, AUTHN-OIDC-03, AUTHN-OIDC-05: invalid tokens are a 401 with the same message', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider)
  const good = { iss: provider.issuer, sub: 'jane', aud: 'orch', exp: nowSeconds() + 600 }
  const [head, body, signature] = aToken(good).split('.') as [string, string, string]
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const hmacText = `${encode({ alg: 'HS256', kid: 'one' })}.${body}`
  const publicPem = createPublicKey(key.key).export({ type: 'spki', format: 'pem' })
  expect(await whoAmI(server, as(`${head}.${body}.${signature}`))).toBeDefined()
  const bad = {
    expired: aToken({ ...good, exp: nowSeconds() - 5 }),
    withoutEnd: aToken({ ...good, exp: undefined }),
    notYetValid: aToken({ ...good, nbf: nowSeconds() + 300 }),
    fromTheFuture: aToken({ ...good, iat: nowSeconds() + 300 }),
    otherIssuer: aToken({ ...good, iss: 'https://evil.example' }),
    otherAudience: aToken({ ...good, aud: 'somebody' }),
    algNone: `${encode({ alg: 'none', kid: 'one' })}.${body}.`,
    publicKeyAsSecret: `${hmacText}.${createHmac('sha256', publicPem).update(hmacText).digest('base64url')}`,
    tampered: `${head}.${encode({ ...good, sub: 'root' })}.${signature}`,
    otherKey: aToken(good, {}, aKey('one').key),
    accessToken: aToken(good, { typ: 'at+jwt' }),
    algorithmNotAllowed: aToken(good, { alg: 'RS512' }),
    oversized: aToken({ ...good, more: 'x'.repeat(20_000) }),
  }
  for (const [name, token] of Object.entries(bad)) {
    const { code, body: answer } = await call(server, as(token))
    expect({ name, code, message: answer.message }).toEqual({ name, code: 401, message: 'Unauthorized' })
  }
})

test('AUTHN-OIDC-16, AUTHN-OIDC-17, AUTHN-OIDC-20: an email address gets no default prefix, and must be verified', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider, ['--oidc-username-claim=email', '--oidc-groups-claim=groups'])
  const email = 'jane@acme.com'
  expect(await whoAmI(server, as(await provider.token({ sub: '1', email, email_verified: true })))).toMatchObject({ username: email })
  expect(await whoAmI(server, as(await provider.token({ sub: '1', email })))).toMatchObject({ username: email })
  expect(await whoAmI(server, as(await provider.token({ sub: '1', email, email_verified: false })))).toBeUndefined()
  const elsewhere = { _claim_names: { groups: 'src' }, _claim_sources: { src: { endpoint: `${provider.issuer}/groups` } } }
  expect(await whoAmI(server, as(await provider.token({ sub: '1', email, ...elsewhere })))).toBeUndefined()
})

test('AUTHN-OIDC-11, AUTHN-OIDC-25: with an untrusted provider tokens are refused, and the server runs', async () => {
  const provider = await anOidcProvider(key)
  const stranger = await anAuthority('stranger')
  const server = await aServer({ ...provider, caFile: aFolder().write('ca.crt', stranger.certificate) })
  expect(await whoAmI(server, as(await provider.token({ sub: 'jane' })))).toBeUndefined()
  expect((await call(server, {})).code).toBe(200)
  const noAuthority = aFolder().write('ca.crt', (await aCertificate({ commonName: 'x' })).certificate)
  await expect(aServer({ ...provider, caFile: noAuthority })).rejects.toThrow(/CA flag is not set/)
})

test('the ID of an OpenID Connect token shows in its user', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider)
  const token = await provider.token({ sub: 'jane', jti: 'one' })
  expect(await whoAmI(server, as(token))).toMatchObject({ extra: { 'authentication.orch.io/credential-id': ['JTI=one'] } })
})

test.each([
  [['--oidc-issuer-url=https://a'], '--oidc-client-id: needed'],
  [['--oidc-client-id=a'], '--oidc-issuer-url: needed'],
  [['--oidc-groups-claim=a'], '--oidc-issuer-url: needed'],
  [['--oidc-issuer-url=http://a', '--oidc-client-id=a'], 'must be an address that begins with https://'],
  [['--oidc-issuer-url=https://a', '--oidc-client-id=a', '--oidc-required-claim=x'], 'must be claim=value'],
  [['--oidc-issuer-url=https://a', '--oidc-client-id=a', '--oidc-signing-algs=HS256'], 'must be one of RS256'],
])('AUTHN-OIDC-12, AUTHN-OIDC-14, FLAG-15: %j is refused at the start', async (flags, message) => {
  await expect(start({ flags })).rejects.toThrow(message)
})

test('AUTHN-OIDC-06: the server has no login page', async () => {
  const provider = await anOidcProvider(key)
  const server = await aServer(provider)
  for (const path of ['/login', '/oauth2/authorize', '/callback']) expect((await call(server, { path })).code).toBe(404)
})
