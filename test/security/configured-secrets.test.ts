import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog } from '@orch/platform'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { expect, onTestFinished, test } from 'vitest'
import { openApi } from '../api/api.ts'
import { aPolicy } from '../audit/audited.ts'
import { aFile } from '../authentication/server.ts'

const marks = {
  tokenWebhookToken: 'mark-token-webhook-6a0d',
  accessWebhookToken: 'mark-access-webhook-11fe',
  auditWebhookToken: 'mark-audit-webhook-90c4',
  askedToken: 'mark-asked-token-3e21',
  strangersUser: 'mark-strangers-user-5c5c',
  strangersExtra: 'mark-strangers-extra-e8e8',
  cookie: 'mark-cookie-2b2b',
  proxyAuthorization: 'mark-proxy-authorization-4d4d',
}

/** One server for all webhooks. It fails whenever it can, and repeats in what it says whatever it was shown. */
async function anIndiscreetServer() {
  const seen: { readonly path: string; readonly credential: string }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => {
      const credential = String(request.headers.authorization)
      seen.push({ path: request.url ?? '', credential })
      response.writeHead(403, { 'content-type': 'application/json', 'x-shown': credential })
      response.end(JSON.stringify({ kind: 'Status', message: `not you, ${credential}: ${text}`, credential }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const configuration = (server: string, user: object) =>
  aFile(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )

test('AUDIT-08, AUTHN-WH-02: what client configurations, proxies and strangers bring is in nothing that a run writes', async () => {
  const { url, seen } = await anIndiscreetServer()
  const proxies = await anAuthority('proxies')
  const front = await aCertificate({ issuer: proxies, commonName: 'front', use: 'client' })
  let written = ''
  const log = createLog({
    level: 'trace',
    format: 'json',
    write: (line) => {
      written += line
    },
  })
  const auditFile = aFile('')
  const { accessWebhookToken, auditWebhookToken } = marks
  const api = await openApi({
    log,
    flags: [
      `--audit-policy-file=${aFile(aPolicy([{ level: 'RequestResponse' }]))}`,
      `--audit-log-path=${auditFile}`,
      `--audit-webhook-config-file=${configuration(`${url}/audit`, { token: auditWebhookToken })}`,
      '--audit-webhook-batch-max-wait=50ms',
      '--authorization-mode=RBAC,Webhook',
      `--authorization-webhook-config-file=${configuration(`${url}/access`, { token: accessWebhookToken })}`,
      `--authentication-token-webhook-config-file=${configuration(`${url}/token`, { token: marks.tokenWebhookToken })}`,
      `--requestheader-client-ca-file=${aFile(proxies.certificate)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
  })
  const bring = (headers: Record<string, string>, pair: object = {}) => api.as(pair)('GET', '/api/v1/namespaces/default/pods', { headers })
  const asked = await bring({ authorization: `Bearer ${marks.askedToken}` })
  // The headers of a proxy count where its certificate is shown, so they would be read; a stranger's are not, and are nowhere written.
  const known = await bring({ 'x-remote-user': 'jane' }, { cert: front.certificate, key: front.key })
  const stranger = await bring({
    'x-remote-user': marks.strangersUser,
    'x-remote-extra-mark': marks.strangersExtra,
    cookie: `session=${marks.cookie}`,
    'proxy-authorization': `Basic ${marks.proxyAuthorization}`,
  })
  await expect.poll(() => seen.some(({ path }) => path === '/audit'), { timeout: 20_000 }).toBe(true)
  await api.stop()

  expect(asked.status).toBe(401)
  expect(seen).toEqual(
    expect.arrayContaining([
      { path: '/token', credential: `Bearer ${marks.tokenWebhookToken}` },
      { path: '/access', credential: `Bearer ${accessWebhookToken}` },
      { path: '/audit', credential: `Bearer ${auditWebhookToken}` },
    ]),
  )
  const audited = readFileSync(auditFile, 'utf8')
  expect(audited).toContain('"username":"jane"')
  expect(audited).toContain('"username":"system:anonymous"')
  expect(written).toContain('"level":"debug"')
  const everything = [audited, written, asked.text, known.text, stranger.text].join('')
  for (const mark of Object.values(marks)) expect({ mark, isWritten: everything.includes(mark) }).toEqual({ mark, isWritten: false })
}, 60_000)

test('AUTHN-WH-02: a client configuration that is refused is not repeated', async () => {
  const password = 'mark-password-0f0f'
  const file = configuration('https://127.0.0.1:1', { username: 'u', password })
  const refusal = await openApi({ flags: [`--authentication-token-webhook-config-file=${file}`] }).catch((error: Error) => error.message)
  expect(refusal).toContain('username is not supported')
  expect(refusal).not.toContain(password)
})
