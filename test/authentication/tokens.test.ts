import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { certificateMemory, readCertificates, systemClock } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { aFile, aServer, nodes, pods, secrets, serviceAccounts, type TestServer, until, whoAmIPath, whoIs } from './server.ts'

const second = 1000

async function anAccount({ client }: TestServer, name = 'robot', namespace = 'default') {
  const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } }
  return client.resource(serviceAccounts).create(object)
}

async function aPod({ client }: TestServer, name: string, serviceAccountName: string) {
  const spec = { serviceAccountName, containers: [{ name: 'a', image: 'a' }] }
  return client.resource(pods).create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec })
}

function requestToken({ askAsAdmin }: TestServer, spec: object = {}, name = 'robot') {
  return askAsAdmin(`/api/v1/namespaces/default/serviceaccounts/${name}/token`, { method: 'POST', body: { spec } })
}

async function aToken(server: TestServer, spec: object = {}, name = 'robot'): Promise<string> {
  const { code, body } = await requestToken(server, spec, name)
  expect(code).toBe(201)
  return body.status.token
}

/** A server whose key the test holds, so that the test can sign any token. */
async function aServerWithKey(type: 'rsa' | 'ec' = 'ec', options: Parameters<typeof aServer>[0] = {}) {
  const { privateKey } =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const server = await aServer({
    ...options,
    flags: [`--service-account-signing-key-file=${aFile(pem)}`, ...(options.flags ?? [])],
  })
  return { server, pem }
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function signed(pem: string, header: object, payload: object): string {
  const text = `${encode(header)}.${encode(payload)}`
  const signature = sign('sha256', Buffer.from(text), { key: createPrivateKey(pem), dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

describe('tokens of service accounts', () => {
  test('AUTHN-SA-01, AUTHN-SA-03, AUTHN-SA-04, AUTHN-SA-11: a requested token authenticates its account, without any flag', async () => {
    const server = await aServer()
    const { metadata } = await anAccount(server)
    expect(await whoIs(server, await aToken(server))).toEqual({
      username: 'system:serviceaccount:default:robot',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.orch.io/credential-id': [expect.stringMatching(/^JTI=/)] },
    })
  })

  test('MACH-ID-01, MACH-ID-02: at level 1.37 a token has an ID, and names its node or the node of its pod', async () => {
    const server = await aServer({ flags: ['--emulated-version=1.37'] })
    const account = await anAccount(server)
    const node = await server.client.resource(nodes).create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    for (const [name, nodeName] of [
      ['here', 'n'],
      ['nowhere', 'gone'],
    ] as const) {
      const spec = { serviceAccountName: 'robot', nodeName, containers: [{ name: 'a', image: 'a' }] }
      await server.client.resource(pods).create({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec })
    }
    const boundTo = (kind: string, name: string) => aToken(server, { boundObjectRef: { apiVersion: 'v1', kind, name } })
    const key = (name: string) => `authentication.orch.io/${name}`
    const extraOf = async (token: string) => {
      const { extra, uid } = await whoIs(server, token)
      expect(uid).toBe(account.metadata.uid)
      const { [key('credential-id')]: id, ...rest } = extra
      expect(id).toEqual([`JTI=${decodeJwt(token).jti}`])
      return rest
    }
    expect(await extraOf(await aToken(server))).toEqual({})
    const ofNode = { [key('node-name')]: ['n'], [key('node-uid')]: [node.metadata.uid] }
    expect(await extraOf(await boundTo('Node', 'n'))).toEqual(ofNode)
    const podUid = expect.any(String)
    expect(await extraOf(await boundTo('Pod', 'here'))).toEqual({ ...ofNode, [key('pod-name')]: ['here'], [key('pod-uid')]: [podUid] })
    const nowhere = { [key('node-name')]: ['gone'], [key('pod-name')]: ['nowhere'], [key('pod-uid')]: [podUid] }
    expect(await extraOf(await boundTo('Pod', 'nowhere'))).toEqual(nowhere)
    const ofGoneNode = await boundTo('Node', 'n')
    await server.client.resource(nodes).delete('n')
    expect((await server.ask(whoAmIPath, { method: 'POST', token: ofGoneNode, body: {} })).code).toBe(401)
  })

  test('AUTHN-SA-13: a token is valid for an hour and for the server by default', async () => {
    const clock = createFakeClock(Date.now())
    const server = await aServer({ clock })
    await anAccount(server)
    const plain = decodeJwt(await aToken(server))
    const nowSeconds = Math.floor(clock.now() / second)
    expect(plain).toMatchObject({
      iss: 'https://orch.default.svc.cluster.local',
      sub: 'system:serviceaccount:default:robot',
      aud: ['https://orch.default.svc.cluster.local'],
      iat: nowSeconds,
      nbf: nowSeconds,
      exp: nowSeconds + 3600,
    })
    const { body } = await requestToken(server, { audiences: ['vault'], expirationSeconds: 600 })
    expect(decodeJwt(body.status.token)).toMatchObject({ aud: ['vault'], exp: nowSeconds + 600 })
    expect(body.status.expirationTimestamp).toBe(new Date((nowSeconds + 600) * second).toISOString().replace('.000', ''))
  })

  test.each([
    ['shorter than ten minutes', { expirationSeconds: 599 }, 422, 'may not specify a duration less than 10 minutes'],
    ['longer than 2^32 seconds', { expirationSeconds: 2 ** 32 + 1 }, 422, 'may not specify a duration larger than 2^32 seconds'],
    [
      'bound to a Node',
      { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n' } },
      400,
      'cannot bind token to object of type /v1, Kind=Node',
    ],
    [
      'bound to the pod of another account',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'theirs' } },
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ],
    ['bound to a pod without a name', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: '' } }, 400, 'Name parameter required.'],
    [
      'bound to a pod that is not there',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'nowhere' } },
      404,
      'pods "nowhere" not found',
    ],
    [
      'bound to a pod of another uid',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'ours', uid: 'x' } },
      409,
      'does not match the UID in record',
    ],
  ])('AUTHN-SA-13: a token is not issued %s', async (_what, spec, code, message) => {
    const server = await aServer({ version: '1.25' })
    await anAccount(server)
    await aPod(server, 'ours', 'robot')
    await aPod(server, 'theirs', 'other')
    const answer = await requestToken(server, spec)
    expect(answer.code).toBe(code)
    expect(answer.body.message).toContain(message)
  })

  test('AUTHN-SA-13: a token is not issued for an absent account, or for another name than the path', async () => {
    const server = await aServer()
    expect((await requestToken(server)).code).toBe(404)
    await anAccount(server)
    const body = { metadata: { name: 'other' }, spec: {} }
    const answer = await server.askAsAdmin('/api/v1/namespaces/default/serviceaccounts/robot/token', { method: 'POST', body })
    expect(answer.code).toBe(422)
    expect(answer.body.message).toContain('metadata.name')
  })

  test('AUTHN-SA-13: the configured maximum shortens the validity, and the answer shows it', async () => {
    const server = await aServer({ flags: ['--service-account-max-token-expiration=1h'] })
    await anAccount(server)
    const { body, headers } = await requestToken(server, { expirationSeconds: 7200 })
    expect(body.spec.expirationSeconds).toBe(3600)
    expect(headers['warning']).toContain('requested expiration of 7200 seconds shortened to 3600 seconds')
  })

  test('AUTHN-SA-13: the token of a volume is valid for a year, and contains the time of its renewal', async () => {
    const clock = createFakeClock(Date.now())
    const server = await aServer({ clock })
    await anAccount(server)
    const pod = await aPod(server, 'ours', 'robot')
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'ours' }
    const { body } = await requestToken(server, { expirationSeconds: 3607, boundObjectRef })
    const claims = decodeJwt(body.status.token)
    const nowSeconds = Math.floor(clock.now() / second)
    expect(claims.exp).toBe(nowSeconds + 31_536_000)
    expect(claims['orch.io']).toMatchObject({ warnafter: nowSeconds + 3607, pod: { name: 'ours', uid: pod.metadata.uid } })
    expect(body.status.expirationTimestamp).toBe(new Date((nowSeconds + 3607) * second).toISOString().replace('.000', ''))
    expect(await whoIs(server, body.status.token)).toMatchObject({
      extra: { 'authentication.orch.io/pod-name': ['ours'], 'authentication.orch.io/pod-uid': [pod.metadata.uid] },
    })
  })

  test('AUTHN-SA-10: the token of a deleted account is refused, also after an account of the same name is created', async () => {
    const server = await aServer()
    await anAccount(server)
    const token = await aToken(server)
    expect(await whoIs(server, token)).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    await server.client.resource(serviceAccounts).delete('robot', { namespace: 'default' })
    await until(async () => expect(await whoIs(server, token)).toBe(401))
    await anAccount(server)
    expect(await whoIs(server, token)).toBe(401)
  })

  test.each(['Pod', 'Secret'] as const)('AUTHN-SA-10: a token bound to a %s is refused after its deletion', async (kind) => {
    const clock = createFakeClock(Date.now())
    const server = await aServer({ clock })
    await anAccount(server)
    await aPod(server, 'bound', 'robot')
    await server.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bound', namespace: 'default' } })
    const token = await aToken(server, { boundObjectRef: { kind, apiVersion: 'v1', name: 'bound' } })
    expect(await whoIs(server, token)).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    const address = kind === 'Pod' ? pods : secrets
    await server.client.resource(address).delete('bound', { namespace: 'default' }, { gracePeriodSeconds: 0 })
    clock.advance(11 * second)
    await until(async () => expect(await whoIs(server, token)).toBe(401))
  })

  test('AUTHN-SA-10: the tokens of an account under deletion are valid for another minute', async () => {
    const clock = createFakeClock(Date.now())
    const server = await aServer({ clock })
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default', finalizers: ['a.io/b'] } }
    await server.client.resource(serviceAccounts).create(account)
    const token = await aToken(server)
    await server.client.resource(serviceAccounts).delete('robot', { namespace: 'default' })
    clock.advance(59 * second)
    expect(await whoIs(server, token)).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    clock.advance(3 * second)
    expect(await whoIs(server, token)).toBe(401)
  })

  test('AUTHN-SA-05, AUTHN-SA-06, AUTHN-SA-07, AUTHN-SA-08: keys from several files verify tokens, with several keys per file, private or public, RSA or ECDSA', async () => {
    const keys = [
      generateKeyPairSync('rsa', { modulusLength: 2048 }),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ]
    const publicPem = (index: number) => keys[index]?.publicKey.export({ type: 'spki', format: 'pem' }).toString() ?? ''
    const privatePem = (index: number) => keys[index]?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() ?? ''
    const flags = [
      `--service-account-key-file=${aFile(`${publicPem(0)}${privatePem(1)}`)}`,
      `--service-account-key-file=${aFile(publicPem(2))}`,
    ]
    const server = await aServer({ flags })
    await anAccount(server)
    const payload = decodeJwt(await aToken(server))
    const algorithms = ['RS256', 'ES256', 'ES256']
    for (const [index, alg] of algorithms.entries()) {
      expect(await whoIs(server, signed(privatePem(index), { alg }, payload))).toMatchObject({
        username: 'system:serviceaccount:default:robot',
      })
    }
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(await whoIs(server, signed(stranger, { alg: 'ES256' }, payload))).toBe(401)
  })

  test('AUTHN-SA-02, ERR-03: any invalid token is refused with the same message', async () => {
    const clock = createFakeClock(Date.now())
    const { server, pem } = await aServerWithKey('rsa', { clock })
    await anAccount(server)
    const token = await aToken(server)
    const [head = '', middle = '', tail = ''] = token.split('.')
    const payload = decodeJwt(token)
    const header = decodeProtectedHeader(token)
    const nowSeconds = Math.floor(clock.now() / second)
    const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString()
    const hmacHead = encode({ ...header, alg: 'HS256' })
    const bad = {
      'no signature': `${encode({ alg: 'none' })}.${middle}.`,
      'a signature with the public key as a secret': `${hmacHead}.${middle}.${createHmac('sha256', publicPem).update(`${hmacHead}.${middle}`).digest('base64url')}`,
      'another payload': `${head}.${encode({ ...payload, sub: 'system:serviceaccount:default:other' })}.${tail}`,
      'another account within': signed(pem, header, { ...payload, sub: 'system:serviceaccount:default:other' }),
      'no account within': signed(pem, header, { ...payload, 'orch.io': undefined }),
      'a broken signature': `${head}.${middle}.${tail.slice(0, -4)}AAAA`,
      expired: signed(pem, header, { ...payload, exp: nowSeconds - 61 }),
      'not valid yet': signed(pem, header, { ...payload, nbf: nowSeconds + 61 }),
      'issued in the future': signed(pem, header, { ...payload, iat: nowSeconds + 61 }),
      'a time that is a text': signed(pem, header, { ...payload, exp: 'never' }),
      'for others': signed(pem, header, { ...payload, aud: ['vault'] }),
      'by another issuer': signed(pem, header, { ...payload, iss: 'https://elsewhere.example' }),
      oversized: `${head}.${middle}.${'A'.repeat(20_000)}`,
      nonsense: 'nonsense',
    }
    expect(await whoIs(server, signed(pem, header, payload))).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    const answers = await Promise.all(
      Object.entries(bad).map(async ([what, one]) => {
        const { code, body } = await server.ask('/api/v1/pods', { token: one })
        return { what, code, message: body.message, reason: body.reason }
      }),
    )
    const expected = Object.keys(bad).map((what) => ({ what, code: 401, message: 'Unauthorized', reason: 'Unauthorized' }))
    expect(answers).toEqual(expected)
  })

  test.each([
    ['--service-account-key-file', 'nonsense', 'it holds no key in PEM form'],
    ['--service-account-signing-key-file', 'nonsense', 'it holds no private key in PEM form'],
    ['--service-account-signing-key-file', generateKeyPairSync('ed25519').privateKey, 'neither RSA nor ECDSA'],
  ])('AUTHN-SA-05, FLAG-04: %s with an invalid key is refused at the start', async (flag, key, message) => {
    const path = aFile(typeof key === 'string' ? key : key.export({ type: 'pkcs8', format: 'pem' }).toString())
    const problem = await aServer({ flags: [`${flag}=${path}`] }).catch((error: Error) => error.message)
    expect(problem).toContain(`${flag}=${path}: `)
    expect(problem).toContain(message)
  })

  test('AUTHN-SA-09, FLAG-04, FLAG-05: without further keys the key of the serving certificate verifies tokens too', async () => {
    const { serving, authority } = await readCertificates({
      files: certificateMemory(),
      product: 'a',
      names: ['127.0.0.1'],
      clock: systemClock,
    })
    const tls = [`--tls-cert-file=${aFile(serving.certificate)}`, `--tls-private-key-file=${aFile(serving.key)}`]
    const further = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
    for (const [flags, isTaken] of [
      [tls, true],
      [[...tls, `--service-account-key-file=${aFile(further)}`], false],
    ] as const) {
      const server = await aServer({ flags, authority })
      const accounts = '/api/v1/namespaces/default/serviceaccounts'
      await server.askAsAdmin(accounts, { method: 'POST', body: { metadata: { name: 'robot' } } })
      const { body } = await server.askAsAdmin('/api/v1/namespaces/default/serviceaccounts/robot/token', {
        method: 'POST',
        body: { spec: {} },
      })
      const forged = signed(serving.key, { alg: 'ES256' }, decodeJwt(body.status.token))
      const who = await whoIs(server, forged)
      expect(who === 401 ? 401 : who.username).toBe(isTaken ? 'system:serviceaccount:default:robot' : 401)
    }
  })

  test.each([
    [true, 401],
    [false, 'system:serviceaccount:default:robot'],
  ])('AUTHN-SA-10, FLAG-06: with --service-account-lookup=%j the token of a deleted Secret is %s', async (looksUp, expected) => {
    const clock = createFakeClock(Date.now())
    const server = await aServer({ clock, flags: [`--service-account-lookup=${looksUp}`] })
    await anAccount(server)
    const metadata = { name: 'held', namespace: 'default', annotations: { 'orch.io/service-account.name': 'robot' } }
    await server.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'orch.io/service-account-token' })
    const held = async () => (await server.client.resource(secrets).get('held', { namespace: 'default' }))['data'] as { token?: string }
    await until(async () => expect((await held())?.token ?? '').not.toBe(''))
    const token = Buffer.from((await held()).token ?? '', 'base64').toString()
    expect(await whoIs(server, token)).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    await server.client.resource(secrets).delete('held', { namespace: 'default' })
    clock.advance(11 * second)
    await until(async () => {
      const who = await whoIs(server, token)
      expect(who === 401 ? 401 : who.username).toBe(expected)
    })
  })

  test('AUTHN-SA-13, AUDIT-08: the use of a token after its requested time is in the audit event, and is counted', async () => {
    const clock = createFakeClock(Date.now())
    const log = aFile('')
    const policy = aFile(JSON.stringify({ apiVersion: 'audit.orch.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }))
    const server = await aServer({ clock, flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`] })
    await anAccount(server)
    await aPod(server, 'ours', 'robot')
    const token = await aToken(server, { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'ours' } })
    await server.ask('/version?early', { token })
    clock.advance(3667 * second)
    await server.ask('/version?late', { token })
    const events = () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { requestURI: string; stage: string; annotations?: Record<string, string> })
    const staleOf = (uri: string) =>
      events().find(({ requestURI, stage }) => requestURI === uri && stage === 'ResponseComplete')?.annotations?.[
        'authentication.orch.io/stale-token'
      ]
    await until(() =>
      expect(staleOf('/version?late')).toBe('subject: system:serviceaccount:default:robot, seconds after warning threshold: 60'),
    )
    expect(staleOf('/version?early')).toBeUndefined()
    const { text } = await server.askAsAdmin('/metrics')
    expect(text).toContain('serviceaccount_stale_tokens_total 1\n')
    expect(text).toContain('serviceaccount_valid_tokens_total 1\n')
    expect(text).toMatch(/^authentication_attempts\{result="success"\} [1-9]/m)
    expect(text).toMatch(/^authenticated_user_requests\{username="other"\} [1-9]/m)
  })

  test('AUTHN-SA-11: other servers can check a token by the published documents', async () => {
    const server = await aServer({ flags: ['--service-account-issuer=https://issuer.example', '--api-audiences=us'] })
    await anAccount(server)
    const token = await aToken(server)
    const provider = await server.askAsAdmin('/.well-known/openid-configuration')
    expect(provider.headers['cache-control']).toBe('public, max-age=3600')
    expect(provider.body).toEqual({
      issuer: 'https://issuer.example',
      jwks_uri: `${server.server.url}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
    const keys = await server.askAsAdmin('/openid/v1/jwks')
    expect(keys.headers['content-type']).toBe('application/jwk-set+json')
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys.body), { issuer: 'https://issuer.example', audience: 'us' })
    expect(payload.sub).toBe('system:serviceaccount:default:robot')
    expect(keys.text).not.toContain('"d":')
  })

  test.each(['0.0.0.0', '::'])(
    'AUTHN-SA-11: if the server listens on all addresses (%s), an address of this machine is published',
    async (bindAddress) => {
      const server = await aServer({ flags: [`--bind-address=${bindAddress}`, '--authorization-mode=RBAC'] })
      const { body } = await server.askAsAdmin('/.well-known/openid-configuration')
      const { hostname, port, pathname } = new URL(body.jwks_uri)
      expect([port, pathname]).toEqual([new URL(server.server.url).port, '/openid/v1/jwks'])
      const own = Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address))
      expect(own).toContain(hostname.replace(/^\[|\]$/g, ''))
    },
  )

  test('AUTHN-SA-11: several issuers are accepted, the first is in new tokens, and the keys may have another URL', async () => {
    const flags = ['https://first.example', 'https://second.example'].map((issuer) => `--service-account-issuer=${issuer}`)
    const { server, pem } = await aServerWithKey('ec', { flags: [...flags, '--service-account-jwks-uri=https://keys.example/jwks'] })
    await anAccount(server)
    const token = await aToken(server)
    const payload = decodeJwt(token)
    expect(payload).toMatchObject({ iss: 'https://first.example', aud: ['https://first.example', 'https://second.example'] })
    for (const [iss, isTaken] of [
      ['https://second.example', true],
      ['https://third.example', false],
    ] as const) {
      const who = await whoIs(server, signed(pem, decodeProtectedHeader(token), { ...payload, iss }))
      expect(who === 401 ? 401 : who.username).toBe(isTaken ? 'system:serviceaccount:default:robot' : 401)
    }
    const provider = await server.askAsAdmin('/.well-known/openid-configuration')
    expect(provider.body).toMatchObject({ issuer: 'https://first.example', jwks_uri: 'https://keys.example/jwks' })
  })

  test.each([
    ['--service-account-issuer=:issuer', 'must be a string, and a URL if it contains a colon'],
    ['--service-account-jwks-uri=http://keys.example', 'must be an address that begins with https://'],
    ['--service-account-max-token-expiration=59m', 'must be between 1h and 2^32 seconds'],
  ])('AUTHN-SA-13: %s is refused at the start', async (flag, message) => {
    await expect(aServer({ flags: [flag] })).rejects.toThrow(message)
  })

  test('AUTHN-SA-11: nothing is published if the issuer is not a URL', async () => {
    const server = await aServer({ flags: ['--service-account-issuer=us'] })
    for (const path of ['/.well-known/openid-configuration', '/openid/v1/jwks']) expect((await server.askAsAdmin(path)).code).toBe(404)
  })

  test('AUTHN-SA-11: accounts may read the published documents, and anonymous requests may not', async () => {
    const server = await aServer({ anonymousAuth: true })
    await anAccount(server)
    expect((await server.ask('/openid/v1/jwks', { token: await aToken(server) })).code).toBe(200)
    expect((await server.ask('/openid/v1/jwks')).code).toBe(403)
  })
})

describe('tokens from a file', () => {
  const rows = 't0ken,jane,17,"dev,ops"\n"odd, ""token""",joe,18\n'

  test('AUTHN-FILE-01, AUTHN-FILE-02, AUTHN-GEN-01, AUTHN-GEN-06: authenticate their users', async () => {
    const server = await aServer({ flags: [`--token-auth-file=${aFile(rows)}`] })
    expect(await whoIs(server, 't0ken')).toEqual({ username: 'jane', uid: '17', groups: ['dev', 'ops', 'system:authenticated'] })
    expect(await whoIs(server, 'odd, "token"')).toEqual({ username: 'joe', uid: '18', groups: ['system:authenticated'] })
    expect(await whoIs(server, 't0ke')).toBe(401)
  })

  test('AUTHN-FILE-03, AUTHN-FILE-04: are valid until the server ends, even if the file changes', async () => {
    const clock = createFakeClock(Date.now())
    const path = aFile(rows)
    const server = await aServer({ clock, flags: [`--token-auth-file=${path}`] })
    writeFileSync(path, 'other,jim,19\n')
    clock.advance(600 * second)
    expect(await whoIs(server, 't0ken')).toMatchObject({ username: 'jane' })
    expect(await whoIs(server, 'other')).toBe(401)
  })

  test('AUTHN-FILE-05: with a missing column are refused with the line number, without the token', async () => {
    const path = aFile('good,jane,17\ns3cret,joe\n')
    const failed = aServer({ flags: [`--token-auth-file=${path}`] }).catch((error: Error) => error.message)
    expect(await failed).toBe(`--token-auth-file=${path}: line 2: must have at least three columns: token, user name, user uid`)
  })

  test('AUTHN-GEN-03: are accepted after another method does not know them, and refused if no method knows them', async () => {
    const server = await aServer({ flags: [`--token-auth-file=${aFile(rows)}`], anonymousAuth: true })
    await anAccount(server)
    expect(await whoIs(server, await aToken(server))).toMatchObject({ username: 'system:serviceaccount:default:robot' })
    expect(await whoIs(server, 't0ken')).toMatchObject({ username: 'jane' })
    expect((await server.ask('/livez', { token: 'unknown' })).code).toBe(401)
    expect((await server.ask('/livez')).code).toBe(200)
  })
})

describe('bootstrap tokens', () => {
  const data = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': 'system:bootstrappers:workers,system:bootstrappers:east',
  }
  const token = 'abcdef.0123456789abcdef'

  async function aServerWith(
    changes: Record<string, string> = {},
    place: { name?: string; namespace?: string; type?: string } = {},
    clock = createFakeClock(Date.now()),
  ) {
    const server = await aServer({ clock, flags: ['--enable-bootstrap-token-auth'] })
    const { name = 'bootstrap-token-abcdef', namespace = 'orch-system', type = 'bootstrap.orch.io/token' } = place
    const stringData = { ...data, ...changes }
    await server.client.resource(secrets).create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type, stringData })
    return server
  }

  test('AUTHN-BOOT-02, AUTHN-BOOT-03, AUTHN-BOOT-04, AUTHN-BOOT-07: authenticate a user each, with the groups of their Secret', async () => {
    const server = await aServerWith()
    const groups = ['system:bootstrappers', 'system:bootstrappers:workers', 'system:bootstrappers:east', 'system:authenticated']
    expect(await whoIs(server, token)).toEqual({ username: 'system:bootstrap:abcdef', groups })
  })

  test('AUTHN-BOOT-01: are unknown without the flag', async () => {
    const server = await aServer()
    const metadata = { name: 'bootstrap-token-abcdef', namespace: 'orch-system' }
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'bootstrap.orch.io/token', stringData: data }
    await server.client.resource(secrets).create(secret)
    expect(await whoIs(server, token)).toBe(401)
  })

  test.each([
    ['AUTHN-BOOT-09: expired', { expiration: '2001-01-01T00:00:00Z' }, {}],
    ['AUTHN-BOOT-09: with an end that cannot be read', { expiration: 'tomorrow' }, {}],
    ['AUTHN-BOOT-11: not for authentication', { 'usage-bootstrap-authentication': 'yes' }, {}],
    ['AUTHN-BOOT-11: with a group of others', { 'auth-extra-groups': 'system:masters' }, {}],
    ['AUTHN-BOOT-12: with another secret', { 'token-secret': '0123456789abcdee' }, {}],
    ['AUTHN-BOOT-12: under another name', {}, { name: 'bootstrap-token-abcdee' }],
    ['AUTHN-BOOT-07: of another type', {}, { type: 'Opaque' }],
    ['AUTHN-BOOT-08: in another namespace', {}, { namespace: 'default' }],
  ])('%s is refused', async (_what, changes, place) => {
    const server = await aServerWith(changes, place)
    expect(await whoIs(server, token)).toBe(401)
  })

  test.each(['abcdef.0123456789abcde', 'ABCDEF.0123456789abcdef', 'abcdef0123456789abcdef', 'abcdef.0123456789abcdef0'])(
    'AUTHN-BOOT-05: %s is no bootstrap token',
    async (text) => {
      const server = await aServerWith()
      expect(await whoIs(server, text)).toBe(401)
    },
  )

  test('AUTHN-BOOT-10: are invalid after the deletion of their Secret, and after their expiry', async () => {
    const clock = createFakeClock(Date.now())
    const expiration = new Date(clock.now() + 5 * second).toISOString()
    const server = await aServerWith({ expiration }, {}, clock)
    expect(await whoIs(server, token)).toMatchObject({ username: 'system:bootstrap:abcdef' })
    clock.advance(5 * second)
    expect(await whoIs(server, token)).toBe(401)
    const metadata = { name: 'bootstrap-token-abcdef', namespace: 'orch-system' }
    await server.client
      .resource(secrets)
      .patch(metadata.name, { data: { expiration: null } }, { type: 'merge', namespace: metadata.namespace })
    await until(async () => expect(await whoIs(server, token)).toMatchObject({ username: 'system:bootstrap:abcdef' }))
    await server.client.resource(secrets).delete(metadata.name, { namespace: metadata.namespace })
    await until(async () => expect(await whoIs(server, token)).toBe(401))
  })
})

describe('token reviews', () => {
  const reviewPath = '/apis/authentication.orch.io/v1/tokenreviews'
  const review = ({ askAsAdmin }: TestServer, spec: object) => askAsAdmin(reviewPath, { method: 'POST', body: { spec } })

  test('VIRT-05: contain the user of the token, and the matching requested audiences', async () => {
    const server = await aServer()
    await anAccount(server)
    const token = await aToken(server, { audiences: ['vault', 'other'] })
    const { code, body } = await review(server, { token, audiences: ['vault'] })
    expect(code).toBe(201)
    expect(body.status).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
      user: { username: 'system:serviceaccount:default:robot' },
    })
    expect((await review(server, { token })).body.status).toEqual({
      user: {},
      error: expect.stringMatching(
        /^\[invalid bearer token, token audiences \["vault" "other"\] is invalid for the target audiences \[".+"\]\]$/,
      ),
    })
    expect((await review(server, { token: 'nonsense' })).body.status).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  test('VIRT-05, AUTHN-WH-14: restrict a token without audiences to this server', async () => {
    const server = await aServer({ flags: [`--token-auth-file=${aFile('t0ken,jane,17\n')}`, '--api-audiences=us'] })
    expect((await review(server, { token: 't0ken' })).body.status).toMatchObject({ authenticated: true, audiences: ['us'] })
    expect((await review(server, { token: 't0ken', audiences: ['vault'] })).body.status).toEqual({
      user: {},
      error: 'invalid bearer token',
    })
  })

  test('VIRT-05: need a token', async () => {
    const server = await aServer()
    const { code, body } = await review(server, {})
    expect([code, body.message]).toEqual([400, 'token is required for TokenReview in authentication'])
  })

  test.each(['v1', 'v1beta1'])('a SelfSubjectReview returns the user of the caller: %s', async (version) => {
    const server = await aServer({ version: '1.28', runtimeConfig: ['authentication.orch.io/v1beta1=true'] })
    const { code, body } = await server.askAsAdmin(whoAmIPath.replace('/v1/', `/${version}/`), { method: 'POST', body: {} })
    expect(code).toBe(201)
    expect(body).toMatchObject({
      kind: 'SelfSubjectReview',
      status: { userInfo: { username: 'orch-admin', groups: ['system:masters', 'system:authenticated'] } },
    })
  })
})
