import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { type RunningServer, start } from 'orch'
import { expect, onTestFinished, test, vi } from 'vitest'
import { adminPair, call, whoAmI } from './call.ts'
import { aFolder } from './folder.ts'
import { aKey, anOidcProvider } from './oidc-provider.ts'
import { type Asked, aTokenWebhook, type Reply, withStatus } from './token-webhook.ts'

const people = await anAuthority('people')
const proxies = await anAuthority('proxies')
const providerKey = aKey('one')
const accountPem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const nowSeconds = () => Math.floor(Date.now() / 1_000)
const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

/** A webhook that knows only the given tokens. */
function knowing(users: Readonly<Record<string, string>>): Reply {
  return (asked: Asked, response) => {
    const username = users[asked.review.spec.token as string]
    const status = username === undefined ? { authenticated: false, error: 'who is that' } : { authenticated: true, user: { username } }
    withStatus(status)(asked, response)
  }
}

/** A server that knows every user by every method. */
async function aServer(reply: Reply = knowing({})) {
  const folder = aFolder()
  const provider = await anOidcProvider(providerKey)
  const webhook = await aTokenWebhook(reply)
  const flags = [
    '--anonymous-auth',
    `--client-ca-file=${folder.write('people.crt', people.certificate)}`,
    `--requestheader-client-ca-file=${folder.write('proxies.crt', proxies.certificate)}`,
    '--requestheader-username-headers=X-Remote-User',
    `--token-auth-file=${folder.write('tokens', 'in-file,file-user,1\nbbbbbb.0123456789abcdef,file-user,1\n')}`,
    '--enable-bootstrap-token-auth',
    `--service-account-signing-key-file=${folder.write('account.key', accountPem)}`,
    `--oidc-issuer-url=${provider.issuer}`,
    '--oidc-client-id=orch',
    `--oidc-ca-file=${provider.caFile}`,
    `--authentication-token-webhook-config-file=${webhook.configFile}`,
  ]
  const server = await start({ flags })
  onTestFinished(() => server.stop())
  const pair = await adminPair(server)
  const send = (method: string, path: string, body?: unknown) => call(server, { pair, method, path, body })
  return { server, provider, asked: webhook.asked, send }
}

type Sender = Awaited<ReturnType<typeof aServer>>['send']

const secretsAt = '/api/v1/namespaces/orch-system/secrets'
const accountsAt = '/api/v1/namespaces/default/serviceaccounts'

async function aBootstrapToken(send: Sender, id: string, more: Record<string, string> = {}): Promise<string> {
  const stringData = { 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true', ...more }
  const metadata = { name: `bootstrap-token-${id}` }
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'bootstrap.orch.io/token', stringData }
  expect((await send('POST', secretsAt, body)).code).toBe(201)
  return `${id}.0123456789abcdef`
}

async function anAccountToken(send: Sender, name: string): Promise<string> {
  expect((await send('POST', accountsAt, { metadata: { name } })).code).toBe(201)
  const { code, body } = await send('POST', `${accountsAt}/${name}/token`, { spec: {} })
  expect(code).toBe(201)
  return body.status.token
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signed(key: KeyObject | string, header: object, claims: object): string {
  const text = `${encode(header)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(text), typeof key === 'string' ? createPrivateKey(key) : key)
  return `${text}.${signature.toString('base64url')}`
}

/** Tokens with the same mistake for every issuer. */
function badOnes(key: KeyObject, good: string): Record<string, string> {
  const header = decodeProtectedHeader(good)
  const claims = decodeJwt(good)
  const [head = '', body = '', signature = ''] = good.split('.')
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' })
  const hmacText = `${encode({ ...header, alg: 'HS256' })}.${body}`
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  return {
    expired: signed(key, header, { ...claims, exp: nowSeconds() - 120 }),
    'not yet valid': signed(key, header, { ...claims, nbf: nowSeconds() + 300 }),
    'for others': signed(key, header, { ...claims, aud: ['others'] }),
    'alg none': `${encode({ ...header, alg: 'none' })}.${body}.`,
    'HS256 with the public key': `${hmacText}.${createHmac('sha256', publicPem).update(hmacText).digest('base64url')}`,
    'another payload': `${head}.${encode({ ...claims, sub: 'root' })}.${signature}`,
    'a signature of another length': `${head}.${body}.${signature.slice(0, 40)}`,
    'a key of another': signed(stranger, header, claims),
    oversized: `${head}.${body}.${signature}${'A'.repeat(20_000)}`,
  }
}

/** All parts of the answer that a client sees, except the parts that identify the request. */
async function answerTo(server: RunningServer, token: string) {
  const { code, headers, body } = await call(server, { ...as(token), path: '/api/v1/namespaces/default/pods' })
  const { date: _date, 'audit-id': _auditId, ...rest } = headers
  return { code, headers: rest, body }
}

test('AUTHN-ANON-04, AUTHN-SA-02, AUTHN-OIDC-02, AUTHN-WH-26: the answer does not show the error of any kind of token', async () => {
  const { server, provider, send, asked } = await aServer()
  const account = await anAccountToken(send, 'robot')
  const jane = await provider.token({ sub: 'jane', exp: nowSeconds() + 600 })
  const bootstrap = await aBootstrapToken(send, 'aaaaaa')
  const deleted = await anAccountToken(send, 'deleted')
  const revoked = await aBootstrapToken(send, 'cccccc')
  for (const good of [account, jane, bootstrap, deleted, revoked]) expect(await whoAmI(server, as(good))).toBeDefined()
  await send('DELETE', `${accountsAt}/deleted`)
  await send('DELETE', `${secretsAt}/bootstrap-token-cccccc`)
  await vi.waitFor(async () => {
    for (const gone of [deleted, revoked]) expect(await whoAmI(server, as(gone))).toBeUndefined()
  }, 90_000)
  const named = (prefix: string, tokens: Record<string, string>) =>
    Object.entries(tokens).map(([what, token]) => [`${prefix}: ${what}`, token] as const)
  const bad = [
    ...named('account', badOnes(createPrivateKey(accountPem), account)),
    ...named('OpenID', badOnes(providerKey.key, jane)),
    ...named('file', { 'nearly the token': 'in-fil', 'more than the token': 'in-file2' }),
    ...named('bootstrap', {
      'another secret': 'aaaaaa.0123456789abcdee',
      'nobody has this id': 'zzzzzz.0123456789abcdef',
      expired: await aBootstrapToken(send, 'dddddd', { expiration: '2001-01-01T00:00:00Z' }),
      'not for this': await aBootstrapToken(send, 'eeeeee', { 'usage-bootstrap-authentication': 'false' }),
    }),
    ...named('revoked', { account: deleted, bootstrap: revoked }),
    ...named('webhook', { 'says no': 'opaque', 'has not seen': 'opaque-2' }),
    ...named('nonsense', { dots: '..', json: '{}', 'three parts': 'a.b.c', 'with spaces': 'a b c' }),
  ]
  const refusal = await answerTo(server, 'nonsense')
  expect(refusal).toMatchObject({
    code: 401,
    body: { kind: 'Status', status: 'Failure', message: 'Unauthorized', reason: 'Unauthorized', code: 401 },
  })
  const answers = await Promise.all(bad.map(async ([what, token]) => ({ what, ...(await answerTo(server, token)) })))
  expect(answers).toEqual(bad.map(([what]) => ({ what, ...refusal })))
  // The server asked every authenticator: an early end would show in the answer time.
  const seen = new Set(asked.map(({ review }) => review.spec.token))
  for (const [what, token] of bad) expect({ what, seen: seen.has(token) }).toEqual({ what, seen: !what.endsWith('oversized') })
})

test('AUTHN-GEN-03: the first method that accepts decides, in the order proxy, certificate, file, account, bootstrap, OpenID, webhook', async () => {
  const jane = await aCertificate({ issuer: people, commonName: 'jane', use: 'client' })
  const front = await aCertificate({ issuer: proxies, commonName: 'front', use: 'client' })
  const stranger = await aCertificate({ issuer: await anAuthority('strangers'), commonName: 'jane', use: 'client' })
  const inFile = as('in-file').headers
  const known: Record<string, string> = { opaque: 'webhook-user' }
  const { server, provider, send, asked } = await aServer((one, response) => knowing(known)(one, response))
  const nameOf = async (options: Parameters<typeof whoAmI>[1]) => (await whoAmI(server, options))?.username

  expect(await nameOf({ pair: front, headers: { ...inFile, 'X-Remote-User': 'proxy-user' } })).toBe('proxy-user')
  expect(await nameOf({ pair: jane, headers: { ...inFile, 'X-Remote-User': 'proxy-user' } })).toBe('jane')
  expect(await nameOf({ pair: jane, ...as('nonsense') })).toBe('jane')
  expect(await nameOf({ pair: stranger, headers: inFile })).toBe('file-user')
  expect(await nameOf({ pair: front, headers: inFile })).toBe('file-user')

  await aBootstrapToken(send, 'bbbbbb')
  const bootstrap = await aBootstrapToken(send, 'aaaaaa')
  const account = await anAccountToken(send, 'robot')
  const john = await provider.token({ sub: 'john' })
  for (const token of [bootstrap, account, john, 'in-file', 'bbbbbb.0123456789abcdef']) known[token] = 'webhook-user'
  expect(await nameOf(as('bbbbbb.0123456789abcdef'))).toBe('file-user')
  expect(await nameOf(as(bootstrap))).toBe('system:bootstrap:aaaaaa')
  expect(await nameOf(as(account))).toBe('system:serviceaccount:default:robot')
  expect(await nameOf(as(john))).toBe(`${provider.issuer}#john`)
  expect(asked).toEqual([])
  expect(await nameOf(as('opaque'))).toBe('webhook-user')
})

test('AUTHN-GEN-03: a token that one method refuses may be accepted by a later method', async () => {
  const known: Record<string, string> = {}
  const { server, provider, send } = await aServer((one, response) => knowing(known)(one, response))
  const account = await anAccountToken(send, 'robot')
  const forged = badOnes(createPrivateKey(accountPem), account)['a key of another'] as string
  const others = badOnes(providerKey.key, await provider.token({ sub: 'john' }))['for others'] as string
  known[forged] = 'a-user'
  known[others] = 'b-user'
  expect(await whoAmI(server, as(forged))).toMatchObject({ username: 'a-user' })
  expect(await whoAmI(server, as(others))).toMatchObject({ username: 'b-user' })
})

test('AUTHN-GEN-04, AUTHN-ANON-03, AUTHN-ANON-04: a request is anonymous without a token, and never with an invalid token', async () => {
  const { server } = await aServer()
  const anonymous = await call(server, { path: '/api/v1/namespaces/default/pods' })
  expect(anonymous).toMatchObject({ code: 403, body: { message: expect.stringContaining('User "system:anonymous" cannot list') } })
  for (const headers of [{ authorization: 'Basic YTpi' }, { authorization: 'Bearer' }, { authorization: 'Bearer  ' }]) {
    expect((await call(server, { path: '/api/v1/namespaces/default/pods', headers })).code).toBe(403)
  }
  expect((await call(server, { path: '/livez', ...as('nonsense') })).code).toBe(401)
  expect((await call(server, { path: '/livez' })).code).toBe(200)
})
