import { aCertificate } from '@orch/platform/any-certificate'
import { expect, test } from 'vitest'
import { aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace, type HookFields } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, type Reply, toBase64, withBody } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

const review = (more: object, response: object) =>
  withBody(({ review, request }) => ({
    kind: 'AdmissionReview',
    apiVersion: review.apiVersion,
    ...more,
    response: { uid: request.uid, allowed: true, ...response },
  }))

const badAnswers: readonly (readonly [string, Reply, string])[] = [
  ['ADM-REV-18: has another uid', review({}, { uid: 'other' }), 'received invalid webhook response: expected response.uid='],
  ['ADM-REV-18: has no uid', review({}, { uid: undefined }), 'received invalid webhook response: expected response.uid='],
  [
    'ADM-REV-17, VER-14: is of another version',
    review({ apiVersion: 'admission.orch.io/v1beta1' }, {}),
    'expected webhook response of admission.orch.io/v1, Kind=AdmissionReview, got admission.orch.io/v1beta1, Kind=AdmissionReview',
  ],
  ['ADM-REV-17: is of another kind', review({ kind: 'Status' }, {}), 'Kind=AdmissionReview, got admission.orch.io/v1, Kind=Status'],
  ['ADM-REV-17: has no response', withBody(({ review }) => ({ ...review, request: undefined })), 'webhook response was absent'],
  ['ADM-REV-19: does not say whether it allows', review({}, { allowed: undefined }), 'response.allowed: expected true or false'],
  ['ADM-REV-22: patches in another way', review({}, { patchType: 'Merge', patch: toBase64('[{}]') }), 'unsupported patch type "Merge"'],
  ['ADM-REV-22: patches in no way', review({}, { patch: toBase64('[]') }), 'webhook returned response.patch but not response.patchType'],
  ['ADM-REV-23: has a patch that is no base64', review({}, { patchType: 'JSONPatch', patch: '%%%' }), 'response.patch: expected base64'],
  [
    'ADM-REV-23: has a patch that is no JSON',
    review({}, { patchType: 'JSONPatch', patch: toBase64('[') }),
    'received undecodable patch in webhook response: unexpected end of JSON input',
  ],
  [
    'ADM-REV-23: has a patch that is no list',
    review({}, { patchType: 'JSONPatch', patch: toBase64('{}') }),
    'undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  ],
  ['ADM-REV-16: is no JSON', withBody(() => '<html>'), 'failed to call webhook: the answer is not JSON'],
  ['ADM-REV-16: is empty', withBody(() => '', { code: 204, type: 'a/b' }), '0-length response with status code: 204 and content type: a/b'],
  [
    'ADM-REV-16: has another code',
    withBody(() => ({}), { code: 207 }),
    'the server responded with the status code 207 but did not return more',
  ],
  [
    'ADM-REV-16: is a refusal',
    withBody(() => 'no such review', { code: 422 }),
    'webhook: the server rejected our request due to an error in our request',
  ],
  [
    'ADM-REV-16: is a failure of the server',
    withBody(() => 'oh no', { code: 500, type: 'text/plain' }),
    'an error on the server ("oh no") has prevented the request from succeeding',
  ],
  [
    'ADM-REV-16: is a refusal in JSON',
    withBody(() => ({ status: 'Failure', message: 'no' }), { code: 403, type: 'application/json' }),
    'failed to call webhook: unknown',
  ],
  [
    'ADM-REV-16: is a failed Status',
    withBody(() => ({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no room here', code: 403 }), { code: 500 }),
    'failed to call webhook: no room here',
  ],
  [
    'ADM-REV-16: is a failed Status with a long message',
    withBody(() => ({ kind: 'Status', status: 'Failure', message: 'no '.repeat(1_000), code: 403 }), { code: 500 }),
    `failed to call webhook: ${'no '.repeat(682)}`,
  ],
  [
    'ADM-REV-16: is a Status with a code that is no number of HTTP',
    withBody(() => ({ kind: 'Status', status: 'Failure', message: 'no room here', code: -1.5 }), { code: 500 }),
    'an error on the server ("unknown")',
  ],
  [
    'is a redirect to another host',
    (_called, response) => void response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(),
    'the webhook answered with a redirect (307) to another host or to none, which is not followed',
  ],
  [
    'is a redirect that changes the method',
    (_called, response) => void response.writeHead(302, { location: '/hook' }).end(),
    'the webhook answered with a redirect (302), which is not followed',
  ],
  [
    'is a redirect to itself',
    (_called, response) => void response.writeHead(308, { location: '/hook' }).end(),
    'stopped after 10 redirects',
  ],
  [
    'is without end',
    (_called, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(4 * 1024 * 1024, ' ')),
    'the answer has more than 3145728 bytes',
  ],
  ['breaks off', (_called, response) => void response.destroy(), 'failed to call webhook: Post '],
]

/** The case's requirement ID precedes the test's ID. */
const underRule = (rule: string) =>
  badAnswers.map(([what, reply, text]) => {
    const [, own = '', rest = what] = /^([A-Z].*?): (.*)$/.exec(what) ?? []
    return [own === '' ? rule : `${own}, ${rule}`, rest, reply, text] as const
  })

test.each(underRule('ADM-FLOW-15'))(
  '%s: an answer that %s is a failed call, and the request is refused',
  async (_ids, _what, reply, text) => {
    const { api } = server
    const hook = await aWebhookServer(reply)
    const { path, hook: name } = await aHookedNamespace(api, 'mutating', hook)
    const { body } = await api.post(path, configMap({ name: 'a' }))
    expect(body).toMatchObject({ code: 500, reason: 'InternalError' })
    expect(body['message']).toContain(`Internal error occurred: failed calling webhook "${name}": `)
    expect(body['message']).toContain(text)
  },
)

test.each(underRule('ADM-FLOW-14'))('%s: an answer that %s is ignored under failurePolicy Ignore', async (_ids, _what, reply) => {
  const { api } = server
  const hook = await aWebhookServer(reply)
  const { path } = await aHookedNamespace(api, 'mutating', hook, { failurePolicy: 'Ignore' })
  await created(api, path, configMap({ name: 'a' }))
  expect(hook.calls.length).toBeGreaterThan(0)
})

const badPatches: readonly (readonly [string, string])[] = [
  ['removes what is not there', '[{"op":"remove","path":"/data/none"}]'],
  ['leaves something of another type', '[{"op":"add","path":"/data","value":7}]'],
  ['tests what is not so', '[{"op":"test","path":"/kind","value":"Pod"}]'],
  ['makes it another kind', '[{"op":"replace","path":"/kind","value":"Secret"}]'],
  ['makes it another version', '[{"op":"replace","path":"/apiVersion","value":"v2"}]'],
  ['leaves no object', '[{"op":"replace","path":"","value":null}]'],
]

test.each(badPatches)('ADM-REV-23: a patch that %s ends the request, with any failure policy', async (_what, patch) => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: true, patchType: 'JSONPatch', patch: toBase64(patch) })))
  const { path } = await aHookedNamespace(api, 'mutating', hook, { failurePolicy: 'Ignore' })
  expect((await api.post(path, configMap({ name: 'a' }))).body).toMatchObject({ code: 500, reason: 'InternalError' })
})

test.each([
  ['Fail', 500],
  ['Ignore', 201],
])('ADM-FLOW-14, ADM-FLOW-15: a webhook that is down follows its failurePolicy %s', async (failurePolicy, code) => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  hook.stop()
  for (const phase of ['mutating', 'validating'] as const) {
    const { path } = await aHookedNamespace(api, phase, hook, { failurePolicy })
    const { status, text } = await api.post(path, configMap({ name: 'a' }))
    expect(status).toBe(code)
    if (code === 500) expect(text).toContain(`127.0.0.1:${hook.port}: connect: connection refused`)
  }
})

test('ADM-WH-13, ADM-FLOW-14, ADM-FLOW-15: a webhook that exceeds its timeout follows its failurePolicy; the deadline of the request ends a call, too, and no webhook is called after it', async () => {
  const { api } = server
  const follow = async (failurePolicy: string, code: number) => {
    const hook = await aWebhookServer(() => {})
    const { path, hook: name } = await aHookedNamespace(api, 'validating', hook, { timeoutSeconds: 5, failurePolicy })
    const { status, text } = await api.post(path, configMap({ name: 'a' }))
    expect(status).toBe(code)
    expect(hook.calls[0]?.url).toBe('/hook?timeout=5s')
    if (code === 500) expect(text).toContain(`failed calling webhook \\"${name}\\": failed to call webhook: Post`)
  }
  const endAtDeadline = async () => {
    const slow = await aWebhookServer(() => {})
    const next = await aWebhookServer(allowing)
    const namespace = await aNamespace(api)
    await aConfiguration(api, 'mutating', [aHook(slow, namespace, { failurePolicy: 'Ignore' }), aHook(next, namespace)])
    const { status, body } = await api.post(`/api/v1/namespaces/${namespace}/configmaps?timeout=5s`, configMap({ name: 'a' }))
    expect({ status, calls: [slow.calls.length, next.calls.length] }).toEqual({ status: 504, calls: [1, 0] })
    expect(body.message).toBe('Timeout: request did not complete within the allotted timeout')
  }
  await Promise.all([follow('Fail', 500), follow('Ignore', 201), endAtDeadline()])
})

test.each([
  ['Fail', 500],
  ['Ignore', 201],
])('ADM-FLOW-14, ADM-FLOW-15: a webhook at an invalid port follows its failurePolicy %s', async (failurePolicy, code) => {
  const { api } = server
  const place = { url: 'https://127.0.0.1:99999/hook', caBundle: '' }
  for (const phase of ['mutating', 'validating'] as const) {
    const namespace = await aNamespace(api)
    const hook = aHook(place, namespace, { failurePolicy })
    await aConfiguration(api, phase, [hook])
    const { status, body } = await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
    expect(status).toBe(code)
    if (code === 500) {
      const why = `failed calling webhook "${hook['name']}": failed to call webhook: parse "${place.url}": invalid URL`
      expect(body['message']).toBe(`Internal error occurred: ${why}`)
    }
  }
})

test('ADM-WH-35: a certificate of another authority is refused', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { certificate } = await aCertificate({ commonName: 'other', isAuthority: true })
  for (const caBundle of [toBase64(certificate), undefined]) {
    const clientConfig = { url: hook.url, caBundle }
    const { path } = await aHookedNamespace(api, 'validating', hook, { clientConfig })
    expect((await api.post(path, configMap({ name: 'a' }))).body).toMatchObject({ code: 500, reason: 'InternalError' })
  }
  expect(hook.calls).toEqual([])
})

test('ADM-WH-35: a bundle without a certificate is reported by name', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const clientConfig = { url: hook.url, caBundle: toBase64('no certificate') }
  const { path } = await aHookedNamespace(api, 'validating', hook, { clientConfig })
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body['message']).toContain('unable to load root certificates: unable to parse bytes as PEM block')
  expect(hook.calls).toEqual([])
})

test('a certificate for another name is refused', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing, { dnsNames: ['other.example.com'] })
  const { path } = await aHookedNamespace(api, 'validating', hook)
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body['message']).toContain('127.0.0.1')
  expect(hook.calls).toEqual([])
})

test('ADM-FLOW-05: the client receives the first of several refusals in order, and all webhooks are called', async () => {
  const { api } = server
  const deny = (message: string) => aWebhookServer(answering(() => ({ allowed: false, status: { message }, warnings: [message] })))
  const [first, second] = [await deny('first'), await deny('second')]
  const namespace = await aNamespace(api)
  const hooks: HookFields[] = [aHook(first, namespace), aHook(second, namespace)]
  await aConfiguration(api, 'validating', hooks)
  const { body, headers } = await api.post(`/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect(body['message']).toContain('denied the request: first')
  expect(headers['warning']).toBe('299 - "first", 299 - "second"')
})

test('ADM-FLOW-14: a webhook before one that fails keeps its change', async () => {
  const { api } = server
  const good = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { a: 'b' } }]))
  const bad = await aWebhookServer(withBody(() => '', { code: 503 }))
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [aHook(good, namespace), aHook(bad, namespace, { failurePolicy: 'Ignore' })])
  const made = await created(api, `/api/v1/namespaces/${namespace}/configmaps`, configMap({ name: 'a' }))
  expect(made['data']).toEqual({ a: 'b' })
})
