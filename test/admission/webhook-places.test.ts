import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aCertificate } from '@orch/platform/any-certificate'
import { expect, test } from 'vitest'
import { type Api, aNamespace, anApi, configMap, created } from '../api/api.ts'
import { aFolder } from '../audit/audited.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, aWebhookServer, toBase64, type WebhookServer } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const quiet = '--controllers=*,-root-ca-cert-publisher'

/** A webhook at a Service; the server calls it about one ConfigMap. */
async function callService(api: Api, hook: WebhookServer, service: object) {
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'validating', [aHook(hook, namespace, { clientConfig: { service, caBundle: hook.caBundle } })])
  return api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
}

test('ADM-WH-41…ADM-WH-44: a Service is called at the mapped address, under its name', async () => {
  const hook = await aWebhookServer(allowing, { dnsNames: ['checks.team.svc'] })
  const api = await anApi({ flags: [quiet, `--webhook-service-map=team/checks=127.0.0.1:${hook.port}`] })
  expect((await callService(api, hook, { namespace: 'team', name: 'checks', path: '/a/b' })).status).toBe(201)
  expect((await callService(api, hook, { namespace: 'team', name: 'checks', port: 8443 })).status).toBe(201)
  expect(hook.calls).toMatchObject([
    { url: '/a/b?timeout=10s', serverName: 'checks.team.svc', headers: { host: 'checks.team.svc:443' } },
    { url: '/?timeout=10s', serverName: 'checks.team.svc', headers: { host: 'checks.team.svc:8443' } },
  ])
})

test('ADM-WH-44: a certificate without the name of the Service is refused', async () => {
  const hook = await aWebhookServer(allowing)
  const api = await anApi({ flags: [quiet, `--webhook-service-map=team/checks=127.0.0.1:${hook.port}`] })
  const { body } = await callService(api, hook, { namespace: 'team', name: 'checks' })
  expect(body['message']).toContain('Post "https://checks.team.svc:443/?timeout=10s": ')
  expect(hook.calls).toEqual([])
})

test('a Service with an external name is called at that host, under its own name', async () => {
  const api = await anApi({ flags: [quiet] })
  const namespace = await aNamespace(api)
  const hook = await aWebhookServer(allowing, { dnsNames: [`away.${namespace}.svc`] })
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await created(api, `/api/v1/namespaces/${namespace}/services`, { kind: 'Service', apiVersion: 'v1', metadata: { name: 'away' }, spec })
  expect((await callService(api, hook, { namespace, name: 'away', port: hook.port })).status).toBe(201)
  expect(hook.calls[0]?.serverName).toBe(`away.${namespace}.svc`)
})

test('an unknown Service is reported at once, without a DNS request', async () => {
  const hook = await aWebhookServer(allowing)
  const api = await anApi({ flags: [quiet] })
  const { body } = await callService(api, hook, { namespace: 'none', name: 'nobody' })
  expect(body['message']).toMatch(/Post "https:\/\/nobody\.none\.svc:443\/\?timeout=10s": service "nobody" not found$/)
})

test('an unknown Service is resolved in the cluster DNS', async () => {
  const hook = await aWebhookServer(allowing)
  const api = await anApi({ flags: [quiet, '--webhook-service-dns'] })
  const { body } = await callService(api, hook, { namespace: 'none', name: 'nobody' })
  const start = 'Post "https://nobody.none.svc:443/?timeout=10s": service "nobody" not found, and dial tcp: lookup nobody.none.svc: '
  expect(body['message']).toContain(start)
  expect(body['message']).toMatch(/(no such host|temporary failure in name resolution)$/)
})

test.each(['169.254.169.254:443', '[fe80::1]:443', '[::ffff:169.254.0.1]', '2852039166'])(
  'a webhook at the link-local address %s is not called, unless a flag allows that',
  async (address) => {
    const refusal = 'is not called'
    const lines: string[] = []
    for (const flags of [[], ['--webhook-link-local']]) {
      const api = await anApi({ flags: [quiet, ...flags] })
      const namespace = await aNamespace(api)
      const clientConfig = { url: `https://${address}/latest/meta-data` }
      // The call fails in both cases because no server listens there.
      await aConfiguration(api, 'validating', [aHook({ url: '', caBundle: '' }, namespace, { clientConfig, timeoutSeconds: 1 })])
      const { status, body } = await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
      expect(status).toBe(500)
      lines.push(String(body['message']))
    }
    expect(lines.map((line) => line.includes(refusal))).toEqual([true, false])
  },
)

test.each(['team=127.0.0.1:1', 'team/checks=127.0.0.1', 'team/checks=127.0.0.1:0', 'a/b=c:1,a/b=d:2'])(
  '--webhook-service-map=%s is refused',
  async (text) => {
    await expect(anApi({ flags: [`--webhook-service-map=${text}`] })).rejects.toThrow('--webhook-service-map=')
  },
)

interface KnownAs {
  readonly flags?: readonly string[]
  readonly old?: boolean
  /** The users of the mutating webhooks where they differ from the users of the validating webhooks. */
  readonly mutatingUsers?: readonly object[]
}

/** A server whose admission configuration file names these users. The file's folder is the base of `path`. */
async function aServerKnownAs(users: readonly object[], extra: KnownAs = {}) {
  const folder = aFolder()
  const configurationOf = (plugin: string, users: readonly object[]) => {
    const orchConfigFile = `${plugin}.conf`
    writeFileSync(join(folder, orchConfigFile), JSON.stringify({ apiVersion: 'v1', kind: 'Config', users }))
    return extra.old
      ? { apiVersion: 'apiserver.config.orch.io/v1alpha1', kind: 'WebhookAdmission', orchConfigFile }
      : { apiVersion: 'apiserver.config.orch.io/v1', kind: 'WebhookAdmissionConfiguration', orchConfigFile }
  }
  const plugins = [
    { name: 'ValidatingAdmissionWebhook', configuration: configurationOf('validating', users) },
    { name: 'MutatingAdmissionWebhook', configuration: configurationOf('mutating', extra.mutatingUsers ?? users) },
  ]
  const apiVersion = extra.old ? 'apiserver.orch.io/v1alpha1' : 'apiserver.config.orch.io/v1'
  const file = join(folder, 'admission.conf')
  writeFileSync(file, JSON.stringify({ apiVersion, kind: 'AdmissionConfiguration', plugins }))
  return anApi({ flags: [quiet, `--admission-control-config-file=${file}`, ...(extra.flags ?? [])] })
}

test('ADM-CRED-04…ADM-CRED-07: each of the two plugins has a separate client configuration', async () => {
  const hook = await aWebhookServer(allowing)
  const known = (token: string) => [{ name: '*', user: { token } }]
  const api = await aServerKnownAs(known('judges'), { mutatingUsers: known('changes') })
  for (const phase of ['mutating', 'validating'] as const) {
    const { path } = await aHookedNamespace(api, phase, hook)
    await created(api, path, configMap({ name: 'a' }))
  }
  expect(hook.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer changes', 'Bearer judges'])
})

test('ADM-CRED-02, ADM-CRED-03, ADM-CRED-11, ADM-CRED-16: a token is found by the host and port of an address', async () => {
  const hook = await aWebhookServer(allowing)
  const api = await aServerKnownAs([{ name: `127.0.0.1:${hook.port}`, user: { token: 't-1' } }])
  for (const phase of ['mutating', 'validating'] as const) {
    const { path } = await aHookedNamespace(api, phase, hook)
    await created(api, path, configMap({ name: 'a' }))
  }
  expect(hook.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer t-1', 'Bearer t-1'])
})

test('ADM-CRED-01, ADM-CRED-08, ADM-CRED-10, ADM-CRED-15: user names and passwords are found by the names of Services', async () => {
  const hook = await aWebhookServer(allowing, { dnsNames: ['checks.team.svc'] })
  const users = [
    { name: 'checks.team.svc', user: { username: 'u', password: 'p' } },
    { name: 'checks.team.svc:8443', user: { username: 'u', password: 'q' } },
  ]
  const api = await aServerKnownAs(users, { flags: [`--webhook-service-map=team/checks=127.0.0.1:${hook.port}`] })
  await callService(api, hook, { namespace: 'team', name: 'checks' })
  await callService(api, hook, { namespace: 'team', name: 'checks', port: 8443 })
  expect(hook.calls.map(({ headers }) => headers.authorization)).toEqual([`Basic ${toBase64('u:p')}`, `Basic ${toBase64('u:q')}`])
})

test('ADM-CRED-03, ADM-CRED-13, ADM-CRED-14, ADM-CRED-18: a certificate may be for all servers, in a file of the old format', async () => {
  const hook = await aWebhookServer(allowing, { requiresCertificate: true })
  const pair = await aCertificate({ issuer: hook.authority, commonName: 'orch-server', use: 'client' })
  const user = { 'client-certificate-data': toBase64(pair.certificate), 'client-key-data': toBase64(pair.key) }
  const api = await aServerKnownAs([{ name: '*', user }], { old: true })
  const { path } = await aHookedNamespace(api, 'validating', hook)
  await created(api, path, configMap({ name: 'a' }))
  expect(hook.calls[0]?.caller).toBe('orch-server')
})

test('ADM-CRED-17: a webhook that requires a certificate refuses a call without one', async () => {
  const hook = await aWebhookServer(allowing, { requiresCertificate: true })
  const api = await aServerKnownAs([{ name: 'other.team.svc', user: { token: 't' } }])
  const { path } = await aHookedNamespace(api, 'validating', hook)
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(500)
  expect(hook.calls).toEqual([])
})

test.each([
  ['a command', [{ name: '*', user: { exec: { command: 'x' } } }], 'users[0].user.exec: webhooks cannot be shown this'],
  ['half a certificate', [{ name: '*', user: { 'client-key-data': 'YQ==' } }], 'client-certificate and client-key belong together'],
  ['one name twice', [{ name: 'a' }, { name: 'a' }], 'users[1].name: a: there is an entry of that name already'],
])('a client configuration file with %s is refused at the start', async (_what, users, text) => {
  await expect(aServerKnownAs(users)).rejects.toThrow(text)
})
