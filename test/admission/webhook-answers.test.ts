import { aCertificate } from '@orch/platform/any-certificate'
import { expect, test } from 'vitest'
import { aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, aWebhookServer, patching, type Reply, toBase64 } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

const labelling = patching(() => [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }])

/** Answers like another reply, but with this code and content type. */
function as(reply: Reply, code: number, type: string | undefined): Reply {
  return (called, response) => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = () => writeHead(code, type === undefined ? {} : { 'content-type': type })
    reply(called, response)
  }
}

test.each([
  [200, 'text/plain; charset=utf-8'],
  [200, 'application/octet-stream'],
  [200, 'text/html'],
  [200, undefined],
  [201, 'application/json'],
  [206, 'application/json'],
])('ADM-REV-16: an answer with code %i and content type %s is accepted', async (code, type) => {
  const { api } = server
  const hook = await aWebhookServer(as(labelling, code, type))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  expect((await created(api, path, configMap({ name: 'a' })))['metadata']).toMatchObject({ labels: { seen: 'yes' } })
})

test.each([
  ['serving', false],
  ['issuer', true],
  ['serving', true],
] as const)('a bundle with only the %s certificate is sufficient, intermediate authority: %s', async (which, hasIntermediate) => {
  const { api } = server
  const hook = await aWebhookServer(allowing, { hasIntermediate })
  for (const phase of ['mutating', 'validating'] as const) {
    const clientConfig = { url: hook.url, caBundle: toBase64(hook[which].certificate) }
    const { path } = await aHookedNamespace(api, phase, hook, { clientConfig })
    await created(api, path, configMap({ name: 'a' }))
  }
  expect(hook.calls).toHaveLength(2)
})

const hourMs = 3_600_000

test.each([
  ['of another authority', {}, 'x509: certificate signed by unknown authority'],
  ['that has expired', { toMs: -hourMs / 2 }, 'x509: certificate has expired or is not yet valid'],
  [
    'for another name',
    { dnsNames: ['a.b', 'c.d'] },
    "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
  ],
  ['for another address', { dnsNames: ['10.0.0.9'] }, 'x509: certificate is valid for 10.0.0.9, not 127.0.0.1'],
])('a certificate %s is refused in the words of Go clients', async (_what, options, reason) => {
  const { api } = server
  const hook = await aWebhookServer(allowing, options)
  const { certificate: other } = await aCertificate({ commonName: 'other', isAuthority: true })
  const caBundle = Object.keys(options).length === 0 ? toBase64(other) : hook.caBundle
  const { path, hook: name } = await aHookedNamespace(api, 'validating', hook, { clientConfig: { url: hook.url, caBundle } })
  const { body } = await api.post(path, configMap({ name: 'a' }))
  const start = `Internal error occurred: failed calling webhook "${name}": failed to call webhook: Post "${hook.url}?timeout=10s"`
  expect(body['message']).toBe(`${start}: tls: failed to verify certificate: ${reason}`)
  expect(hook.calls).toEqual([])
})

test.each([307, 308])('a redirect with code %i is followed on the same host, with the body', async (code) => {
  const { api } = server
  const hook = await aWebhookServer((called, response) => {
    if (called.url.startsWith('/hook')) response.writeHead(code, { location: '/moved?from=hook' }).end()
    else labelling(called, response)
  })
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  expect((await created(api, path, configMap({ name: 'a' })))['metadata']).toMatchObject({ labels: { seen: 'yes' } })
  expect(hook.calls.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /hook?timeout=10s', 'POST /moved?from=hook'])
  expect(hook.calls[1]?.text).toBe(hook.calls[0]?.text)
})

test.each([
  ['//deny', '/deny'],
  ['/deny/', '/deny'],
  ['/a//b/', '/a/b'],
])('the path %s is cleaned before the call', async (given, sent) => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  const clientConfig = { url: `https://127.0.0.1:${hook.port}${given}`, caBundle: hook.caBundle }
  await aConfiguration(api, 'validating', [aHook(hook, namespace, { clientConfig })])
  await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect(hook.calls[0]?.url).toBe(`${sent}?timeout=10s`)
})
