import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createTransport, loadConfiguration } from '@orch/client'
import { aCertificate } from '@orch/platform/any-certificate'
import { expect, onTestFinished, test } from 'vitest'

const nowMs = 1_000_000_000
const surroundings = { now: () => nowMs, env: {}, isInteractive: false, say: () => {} }

/** A token that expires after this number of seconds. */
const aToken = (name: string, seconds: number) =>
  ['{}', JSON.stringify({ sub: name, exp: nowMs / 1000 + seconds }), name].map((part) => Buffer.from(part).toString('base64url')).join('.')

/** A provider that answers each refresh with the next of these answers. */
async function aProvider(...answers: object[]) {
  const pair = await aCertificate({ commonName: 'provider', isAuthority: true, hasNames: true })
  const asked: string[] = []
  const server = createServer({ cert: pair.certificate, key: pair.key }, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    asked.push(`${request.method} ${request.url} ${body}`)
    const { port } = server.address() as AddressInfo
    if (request.url === '/.well-known/openid-configuration') {
      return response.end(JSON.stringify({ token_endpoint: `https://127.0.0.1:${port}/token` }))
    }
    const answer = answers.shift()
    response.writeHead(answer === undefined ? 400 : 200)
    response.end(JSON.stringify(answer ?? { error: 'invalid_grant' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { issuer: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, authority: pair.certificate, asked }
}

/** An API server that records the tokens and refuses the listed tokens. */
async function aClient(config: Record<string, string>, refused: readonly string[] = []) {
  const server = createPlainServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    response.writeHead(refused.includes(token) ? 401 : 200)
    response.end(JSON.stringify({ token, kind: 'Status', apiVersion: 'v1', metadata: {}, code: 401 }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const folder = mkdtempSync(join(tmpdir(), 'oidc-'))
  const file = join(folder, 'config')
  const document = {
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc', config } } }],
  }
  writeFileSync(file, JSON.stringify(document))
  const client = createClient(createTransport(await loadConfiguration(file), surroundings))
  onTestFinished(() => {
    client.close()
    server.close()
    rmSync(folder, { recursive: true })
  })
  const sent = async () => (await client.request<{ token: string }>({ method: 'GET', path: '/' })).token
  return { sent, file }
}

const login = (provider: Awaited<ReturnType<typeof aProvider>>, more: Record<string, string>) => ({
  'idp-issuer-url': provider.issuer,
  'idp-certificate-authority-data': Buffer.from(provider.authority).toString('base64'),
  'client-id': 'orchctl',
  'client-secret': 'secret',
  ...more,
})

test('CLI-OIDC-01: a valid ID token is sent, without a request to the provider', async () => {
  const provider = await aProvider()
  const { sent } = await aClient(login(provider, { 'id-token': aToken('first', 3600), 'refresh-token': 'r1' }))
  expect([await sent(), await sent()]).toEqual([aToken('first', 3600), aToken('first', 3600)])
  expect(provider.asked).toEqual([])
})

test('CLI-OIDC-02: an expired ID token is refreshed before use, and both new tokens are stored in the file', async () => {
  const provider = await aProvider({ id_token: aToken('second', 3600), refresh_token: 'r2' })
  const { sent, file } = await aClient(login(provider, { 'id-token': aToken('first', -1), 'refresh-token': 'r1' }))
  expect([await sent(), await sent()]).toEqual([aToken('second', 3600), aToken('second', 3600)])
  expect(provider.asked).toEqual([
    'GET /.well-known/openid-configuration ',
    'POST /token grant_type=refresh_token&refresh_token=r1&client_id=orchctl&client_secret=secret',
  ])
  const kept = await loadConfiguration(file)
  expect(kept.oidc).toMatchObject({ idToken: aToken('second', 3600), refreshToken: 'r2', clientId: 'orchctl' })
  expect(readFileSync(file, 'utf8')).toContain('current-context: x')
})

test('CLI-OIDC-02: an ID token that the server refuses is refreshed, and the request is repeated once', async () => {
  const provider = await aProvider({ id_token: aToken('second', 3600) })
  const first = aToken('first', 3600)
  const { sent } = await aClient(login(provider, { 'id-token': first, 'refresh-token': 'r1' }), [first])
  expect(await sent()).toBe(aToken('second', 3600))
})

test.each([
  ['CLI-OIDC-03: an answer without id_token', { 'refresh-token': 'r1' }, [{ access_token: 'a' }], 'the answer contains no id_token'],
  ['CLI-OIDC-02: a refusal by the provider', { 'refresh-token': 'r1' }, [], 'answered 400 {"error":"invalid_grant"}'],
  ['CLI-OIDC-02: no refresh token', {}, [], 'the token has expired, and there is no refresh-token'],
] as const)('%s is an error', async (_, more, answers, message) => {
  const { sent } = await aClient(login(await aProvider(...answers), { 'id-token': aToken('first', -1), ...more }))
  await expect(sent()).rejects.toThrow(message)
})

test.each([
  ['client-id', { 'idp-issuer-url': 'https://x' }],
  ['idp-issuer-url', { 'client-id': 'x' }],
])('CLI-OIDC-01: %s is required', async (name, config) => {
  await expect(aClient(config as Record<string, string>)).rejects.toThrow(`user u: the auth provider oidc must have ${name}`)
})
