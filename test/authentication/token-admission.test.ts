import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { allowing, answering, aWebhookServer, patching, type WebhookServer } from '../admission/webhook-server.ts'
import { aServer, serviceAccounts, type TestServer } from './server.ts'

const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['serviceaccounts/token'] }]

/** A server with an account, and one webhook for token requests. */
async function aServerThatAsks(phase: 'mutating' | 'validating', hook: WebhookServer): Promise<TestServer> {
  const server = await aServer()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }
  await server.client.resource(serviceAccounts).create(account)
  const webhook = {
    name: 'tokens.example.com',
    clientConfig: { url: hook.url, caBundle: hook.caBundle },
    rules,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  }
  const kind = phase === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration'
  const path = `/apis/admissionregistration.orch.io/v1/${phase}webhookconfigurations`
  const body = { apiVersion: 'admissionregistration.orch.io/v1', kind, metadata: { name: 'tokens' }, webhooks: [webhook] }
  expect((await server.askAsAdmin(path, { method: 'POST', body })).code).toBe(201)
  return server
}

function requestToken({ askAsAdmin }: TestServer, spec: object = {}) {
  return askAsAdmin('/api/v1/namespaces/default/serviceaccounts/robot/token', { method: 'POST', body: { spec } })
}

test('AUTHN-SA-13, ADM-WH-01: a validating webhook is called once, with the whole request, and a refused token is not signed', async () => {
  const hook = await aWebhookServer(answering(() => ({ allowed: false, status: { message: 'no tokens today' } })))
  const server = await aServerThatAsks('validating', hook)
  const answer = await requestToken(server)
  expect(answer.code).toBe(400)
  expect(answer.body.message).toBe('admission webhook "tokens.example.com" denied the request: no tokens today')
  expect(answer.text).not.toContain('eyJ')
  expect(hook.calls.map(({ request }) => request)).toMatchObject([
    {
      kind: { group: 'authentication.orch.io', version: 'v1', kind: 'TokenRequest' },
      resource: { group: '', version: 'v1', resource: 'serviceaccounts' },
      subResource: 'token',
      name: 'robot',
      namespace: 'default',
      operation: 'CREATE',
      object: {
        kind: 'TokenRequest',
        apiVersion: 'authentication.orch.io/v1',
        metadata: { name: 'robot', namespace: 'default' },
        spec: { audiences: ['https://orch.default.svc.cluster.local'], expirationSeconds: 3600 },
      },
    },
  ])
  hook.reply = allowing
  expect((await requestToken(server)).code).toBe(201)
})

test('AUTHN-SA-13: changes by a mutating webhook are in the token, and are validated like requested values', async () => {
  const change = (value: unknown) => patching(() => [{ op: 'replace', path: '/spec/expirationSeconds', value }])
  const hook = await aWebhookServer(change(1200))
  const server = await aServerThatAsks('mutating', hook)
  const { code, body } = await requestToken(server)
  expect(code).toBe(201)
  const { exp = 0, iat = 0 } = decodeJwt(body.status.token)
  expect(exp - iat).toBe(1200)
  expect(hook.calls).toHaveLength(1)
  hook.reply = change(599)
  expect((await requestToken(server)).body.message).toContain('may not specify a duration less than 10 minutes')
  hook.reply = patching(() => [{ op: 'remove', path: '/spec' }])
  expect((await requestToken(server, { expirationSeconds: 700 })).body.spec.expirationSeconds).toBe(3600)
})
