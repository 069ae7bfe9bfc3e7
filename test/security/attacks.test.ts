import { gzipSync } from 'node:zlib'
import { namesOf } from '@orch/core/names'
import { issueServiceAuthority, issueServiceCertificate } from '@orch/platform'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Api, anApi, configMapsIn, created } from '../api/api.ts'
import { aFile, aServer, whoAmIPath } from '../authentication/server.ts'
import { ask } from '../http/ask.ts'
import { whoAmI } from '../identity/call.ts'
import { aTokenWebhook, withStatus } from '../identity/token-webhook.ts'

const rbac = 'rbac.authorization.orch.io'

/** A server at which the user of the token `restricted` may read the paths below /public and the ConfigMaps of one namespace. */
async function aGuardedApi() {
  const api = await anApi({ flags: [`--token-auth-file=${aFile('restricted,jane,1\n')}`] })
  const role = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'public' } }
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/public/*', '/version/*'] }]
  await created(api, `/apis/${rbac}/v1/clusterroles`, { ...role, rules })
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'public' }
  const subjects = [{ kind: 'User', apiGroup: rbac, name: 'jane' }]
  await created(api, `/apis/${rbac}/v1/clusterrolebindings`, {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'public' },
    roleRef,
    subjects,
  })
  const headers = { authorization: 'Bearer restricted' }
  const asJane = (target: string, more: Record<string, string> = {}) => api.as({})('GET', target, { headers: { ...headers, ...more } })
  await expect.poll(async () => (await asJane('/public/x')).status).toBe(404)
  return { api, asJane }
}

describe('paths', () => {
  test('AUTHZ-03: are authorized as they are routed: no spelling of an allowed path reaches another path', async () => {
    const { asJane } = await aGuardedApi()
    const targets = [
      '/public/../metrics',
      '/public/%2e%2e/metrics',
      '/public/..%2fmetrics',
      '/public/%2E%2E%2Fmetrics',
      '/public//../metrics',
      '/public/..;/metrics',
      '/public/x%00/../../metrics',
      '/version/../api/v1/secrets',
      '/version/%2e%2e/api/v1/secrets',
      '//api/v1/secrets',
      '/public/../../api/v1/secrets',
      '/./api/v1/secrets',
      '/api//v1/secrets',
      '/api/v1/./secrets',
      '/%61pi/v1/secrets',
      '/api/v1/namespaces/default/configmaps/../secrets',
      '/api/v1/namespaces/default/configmaps/..%2fsecrets',
      '/API/v1/secrets',
      '/api/v1/secrets/',
      '/api/v1/secrets?x=/public/',
      '/api/v1/secrets#/public/',
    ]
    const codes = await Promise.all(targets.map(async (target) => [target, (await asJane(target)).status] as const))
    expect(codes.filter(([, code]) => ![400, 403, 404].includes(code))).toEqual([])
  })

  test('AUTHZ-05: are not changed by headers of proxies, and neither is the verb', async () => {
    const { asJane } = await aGuardedApi()
    const overrides = ['x-original-url', 'x-rewrite-url', 'x-forwarded-prefix', 'x-http-method-override']
    for (const headers of overrides.map((name) => ({ [name]: name.endsWith('override') ? 'DELETE' : '/api/v1/secrets' }))) {
      expect((await asJane('/public/x', headers)).status).toBe(404)
      expect((await asJane('/api/v1/secrets', headers)).status).toBe(403)
    }
  })
})

describe('invalid credentials', () => {
  test('AUTHN-GEN-05: such as a token in the URL authenticate no user', async () => {
    const server = await aServer({ flags: [`--token-auth-file=${aFile('t0ken,jane,1,system:masters\n')}`] })
    expect((await server.ask('/api/v1/secrets', { token: 't0ken' })).code).toBe(200)
    for (const name of ['access_token', 'token', 'bearer_token', 'authorization', 'id_token']) {
      const { code, body } = await server.ask(`/api/v1/secrets?${name}=t0ken`)
      expect({ name, code, message: body.message }).toMatchObject({ code: 403, message: expect.stringContaining('"system:anonymous"') })
    }
  })

  test('AUTHN-GEN-05: such as other schemes, and two tokens at once, authenticate no user', async () => {
    const server = await aServer({ flags: [`--token-auth-file=${aFile('t0ken,jane,1,system:masters\n')}`] })
    const basic = `Basic ${Buffer.from('jane:t0ken').toString('base64')}`
    for (const authorization of [basic, 'Token t0ken', 't0ken', 'Bearer t0ken, Bearer t0ken', 'Bearer t0ken t0ken', 'Bearer']) {
      expect([401, 403]).toContain((await server.ask('/api/v1/secrets', { headers: { authorization } })).code)
    }
  })

  test('AUTHN-CERT-04: such as the certificates of services are refused at the port for clients', async () => {
    const names = namesOf('orch')
    const authority = await issueServiceAuthority({ names, nowMs: Date.now() })
    const pair = await issueServiceCertificate({ authority, names, role: 'gateway', hostNames: ['localhost'], nowMs: Date.now() })
    const credential = { cert: pair.certificate, key: pair.key }
    expect((await (await anApi()).as(credential)('GET', '/api/v1/secrets')).status).toBe(401)
    // Also if a flag names that authority: service identities mean nothing at the port for clients.
    const trusting = await anApi({ flags: [`--client-ca-file=${aFile(authority.certificate)}`] })
    expect((await trusting.as(credential)('GET', '/api/v1/secrets')).status).toBe(401)
  })

  test('AUTHN-WH-18: are accepted if a webhook accepts them, with the user of its answer', async () => {
    const reply = withStatus({ authenticated: true, user: { username: 'system:admin', groups: ['system:masters'] } })
    const { configFile } = await aTokenWebhook(reply)
    const server = await start({ flags: [`--authentication-token-webhook-config-file=${configFile}`] })
    onTestFinished(() => server.stop())
    expect(await whoAmI(server, { headers: { authorization: 'Bearer any' } })).toMatchObject({
      username: 'system:admin',
      groups: ['system:masters', 'system:authenticated'],
    })
  })
})

describe('header fields', () => {
  test('IMP-07: with line breaks in keys and values of extra attributes stay text', async () => {
    const server = await aServer()
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-extra-a%0d%0aset-cookie%3a%20b': 'c%0d%0aset-cookie: d',
      'impersonate-extra-__proto__': 'e',
    }
    const { code, body, headers: answered } = await server.askAsAdmin(whoAmIPath, { method: 'POST', headers, body: {} })
    expect([code, answered['set-cookie']]).toEqual([201, undefined])
    const { extra } = body.status.userInfo
    expect(Object.entries(extra)).toEqual(
      expect.arrayContaining([
        ['a\r\nset-cookie: b', ['c%0d%0aset-cookie: d']],
        ['__proto__', ['e']],
      ]),
    )
  })

  test('IMP-10: with line breaks in a name are escaped in an error', async () => {
    const { api } = await aGuardedApi()
    const { status, text, headers } = await api.as({})('GET', '/api/v1/namespaces/a%0d%0aset-cookie:b/pods')
    expect([400, 403]).toContain(status)
    expect([headers['set-cookie'], text.includes('\r\nset-cookie')]).toEqual([undefined, false])
  })
})

describe('small requests that cause much work', () => {
  test('QP-22, QP-12: such as selectors with hostile patterns are parsed in linear time', async () => {
    const api = await anApi()
    const long = 7_000
    const selectors = [
      `labelSelector=${'a'.repeat(long)}!`,
      `labelSelector=a in (${'('.repeat(long)}`,
      `labelSelector=a in (${','.repeat(long)}`,
      `labelSelector=${'a,'.repeat(long / 2)}!`,
      `labelSelector=${' '.repeat(long)}a=`,
      `labelSelector=a=${'-'.repeat(long)}`,
      `labelSelector=${'a.'.repeat(long / 2)}/a=b`,
      `fieldSelector=${'metadata.name=a,'.repeat(400)}!`,
      `fieldSelector=${'\\'.repeat(long)}`,
    ]
    for (const selector of selectors) {
      const [name = '', value = ''] = [selector.slice(0, selector.indexOf('=')), selector.slice(selector.indexOf('=') + 1)]
      const { status } = await api.get(`${configMapsIn('default')}?${name}=${encodeURIComponent(value)}`)
      expect([name, value.slice(0, 20), status < 500]).toEqual([name, value.slice(0, 20), true])
    }
    expect((await api.get('/readyz')).status).toBe(200)
  })

  test('LIM-12: such as a compressed body are not decompressed', async () => {
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect([400, 415]).toContain(await codeOfBytes(await anApi(), packed, headers))
  })

  test.each<[string, (head: readonly number[]) => readonly number[]]>([
    ['a length beyond the end', (head) => [...head, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ['a length that is no number', (head) => [...head, 0x0a, ...Array<number>(40).fill(0xff)]],
    ['groups within groups', (head) => [...head, ...Array<number>(100_000).fill(0x0b)]],
    ['messages within messages', (head) => [...head, ...nested(20_000)]],
  ])('NEG-03, LIM-12: such as Protobuf with %s are a 400', async (_what, make) => {
    const api = await anApi()
    const headers = { 'content-type': 'application/vnd.orch.protobuf' }
    expect(await codeOfBytes(api, Buffer.from(make([0x6b, 0x38, 0x73, 0x00])), headers)).toBe(400)
    expect((await api.get('/readyz')).status).toBe(200)
  })
})

/** Posts bytes unchanged. */
async function codeOfBytes(api: Api, body: Uint8Array, headers: Record<string, string>): Promise<number> {
  return (await ask(`${api.url}${configMapsIn('default')}`, { method: 'POST', headers, body, agent: false, ...api.credentials })).code
}

/** A Protobuf message whose field 1 is a message, and so on, each with the right length. */
function nested(depth: number): number[] {
  const bytes: number[] = []
  let length = 0
  for (let index = 0; index < depth; index += 1) {
    const size = [
      (length & 0x7f) | (length > 0x7f ? 0x80 : 0),
      ...(length > 0x7f ? [((length >> 7) & 0x7f) | (length > 0x3fff ? 0x80 : 0)] : []),
      ...(length > 0x3fff ? [length >> 14] : []),
    ]
    bytes.unshift(0x0a, ...size)
    length += 1 + size.length
  }
  return bytes
}
