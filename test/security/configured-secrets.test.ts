import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog } from '@orch/platform'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { expect, onTestFinished, test } from 'vitest'
import { aConfiguration, aHook } from '../admission/hooks.ts'
import { aWebhookServer, type Reply, toBase64 } from '../admission/webhook-server.ts'
import { type Answer, configMap, created, openApi } from '../api/api.ts'
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

/** One server for all webhooks. It fails whenever it can, and its answers repeat its input. */
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

const configuration = (cluster: object, user: object) =>
  aFile(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  )

/** A logger at the most detailed level, with the written lines. */
function aLoggedRun() {
  let written = ''
  const write = (line: string) => {
    written += line
  }
  return { log: createLog({ level: 'trace', format: 'json', write }), written: () => written }
}

test('AUDIT-08, AUTHN-WH-02: credentials of client configurations, proxies and unknown clients are in no output of a run', async () => {
  const { url, seen } = await anIndiscreetServer()
  const proxies = await anAuthority('proxies')
  const front = await aCertificate({ issuer: proxies, commonName: 'front', use: 'client' })
  const { log, written } = aLoggedRun()
  const auditFile = aFile('')
  const { accessWebhookToken, auditWebhookToken } = marks
  const api = await openApi({
    log,
    flags: [
      `--audit-policy-file=${aFile(aPolicy([{ level: 'RequestResponse' }]))}`,
      `--audit-log-path=${auditFile}`,
      `--audit-webhook-config-file=${configuration({ server: `${url}/audit` }, { token: auditWebhookToken })}`,
      '--audit-webhook-batch-max-wait=50ms',
      '--authorization-mode=RBAC,Webhook',
      `--authorization-webhook-config-file=${configuration({ server: `${url}/access` }, { token: accessWebhookToken })}`,
      `--authentication-token-webhook-config-file=${configuration({ server: `${url}/token` }, { token: marks.tokenWebhookToken })}`,
      `--requestheader-client-ca-file=${aFile(proxies.certificate)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
  })
  const bring = (headers: Record<string, string>, pair: object = {}) => api.as(pair)('GET', '/api/v1/namespaces/default/pods', { headers })
  const asked = await bring({ authorization: `Bearer ${marks.askedToken}` })
  // The server uses a proxy's headers if the client shows the proxy's certificate. It neither uses nor logs the headers of other clients.
  const known = await bring({ 'x-remote-user': 'jane' }, { cert: front.certificate, key: front.key })
  const stranger = await bring({
    'x-remote-user': marks.strangersUser,
    'x-remote-extra-mark': marks.strangersExtra,
    cookie: `session=${marks.cookie}`,
    'proxy-authorization': `Basic ${marks.proxyAuthorization}`,
  })
  await expect.poll(() => seen.some(({ path }) => path === '/audit')).toBe(true)
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
  expect(written()).toContain('"level":"debug"')
  const everything = [audited, written(), asked.text, known.text, stranger.text].join('')
  for (const mark of Object.values(marks)) expect({ mark, isWritten: everything.includes(mark) }).toEqual({ mark, isWritten: false })
})

test('AUDIT-08, ADM-CRED-02: the requests of admission to webhooks are in no output of a run', async () => {
  const shown = { token: 'mark-admission-token-71aa', password: 'mark-admission-password-c3d9', imageToken: 'mark-image-token-08be' }
  const repeating: Reply = ({ headers, text }, response) => {
    response.writeHead(500, { 'content-type': 'text/plain', 'x-shown': String(headers.authorization) })
    response.end(`not you, ${headers.authorization}: ${text}`)
  }
  const [byToken, byPassword, byKey, images] = await Promise.all([1, 2, 3, 4].map(() => aWebhookServer(repeating)))
  if (byToken === undefined || byPassword === undefined || byKey === undefined || images === undefined) throw new Error('no webhooks')
  const pair = await aCertificate({ issuer: byKey.authority, commonName: 'orch-server', use: 'client' })
  const key = toBase64(pair.key)
  const users = [
    { name: `127.0.0.1:${byToken.port}`, user: { token: shown.token } },
    { name: `127.0.0.1:${byPassword.port}`, user: { username: 'u', password: shown.password } },
    { name: `127.0.0.1:${byKey.port}`, user: { 'client-certificate-data': toBase64(pair.certificate), 'client-key-data': key } },
  ]
  const cluster = { server: images.url, 'certificate-authority-data': images.caBundle }
  const admission = aFile(
    JSON.stringify({
      apiVersion: 'apiserver.config.orch.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [
        {
          name: 'ValidatingAdmissionWebhook',
          configuration: {
            apiVersion: 'apiserver.config.orch.io/v1',
            kind: 'WebhookAdmissionConfiguration',
            orchConfigFile: aFile(JSON.stringify({ apiVersion: 'v1', kind: 'Config', users })),
          },
        },
        {
          name: 'ImagePolicyWebhook',
          configuration: { imagePolicy: { orchConfigFile: configuration(cluster, { token: shown.imageToken }), defaultAllow: false } },
        },
      ],
    }),
  )
  const run = aLoggedRun()
  const auditFile = aFile('')
  const api = await openApi({
    log: run.log,
    flags: [
      '--enable-admission-plugins=ImagePolicyWebhook',
      `--admission-control-config-file=${admission}`,
      `--audit-policy-file=${aFile(aPolicy([{ level: 'RequestResponse' }]))}`,
      `--audit-log-path=${auditFile}`,
    ],
  })
  await created(api, '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
  })
  const answers: Answer[] = []
  for (const [index, hook] of [byToken, byPassword, byKey].entries()) {
    const namespace = `team-${index}`
    await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    await aConfiguration(api, 'validating', [aHook(hook, namespace)])
    const explained = { body: configMap({ name: 'a' }), headers: { 'orch-explain': '1' } }
    answers.push(await api.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, explained))
  }
  const spec = { containers: [{ name: 'a', image: 'b' }], automountServiceAccountToken: false }
  answers.push(await api.post('/api/v1/namespaces/default/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec }))
  const metrics = (await api.get('/metrics')).text
  await api.stop()

  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 403])
  expect(answers[0]?.text).toContain('not you, Bearer [redacted]: ')
  expect([byToken, byPassword, images].map(({ calls }) => calls[0]?.headers.authorization)).toEqual([
    `Bearer ${shown.token}`,
    `Basic ${toBase64(`u:${shown.password}`)}`,
    `Bearer ${shown.imageToken}`,
  ])
  expect(byKey.calls[0]?.caller).toBe('orch-server')
  const audited = readFileSync(auditFile, 'utf8')
  expect(audited).toContain('"resource":"pods"')
  expect(run.written()).toContain('"level":"debug"')
  const everything = [audited, run.written(), metrics, ...answers.flatMap(({ text, headers }) => [text, JSON.stringify(headers)])].join('')
  const secret = key.slice(100, 140)
  for (const mark of [...Object.values(shown), toBase64(`u:${shown.password}`), secret]) {
    expect({ mark, isWritten: everything.includes(mark) }).toEqual({ mark, isWritten: false })
  }
})

test('AUTHN-WH-02: a refused client configuration is not quoted', async () => {
  const password = 'mark-password-0f0f'
  const file = configuration({ server: 'https://127.0.0.1:1' }, { username: 'u', password })
  const refusal = await openApi({ flags: [`--authentication-token-webhook-config-file=${file}`] }).catch((error: Error) => error.message)
  expect(refusal).toContain('username is not supported')
  expect(refusal).not.toContain(password)
})
