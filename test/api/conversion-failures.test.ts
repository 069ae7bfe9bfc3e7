import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { aWebhookServer, type Called, type Reply, type WebhookServer, withBody } from '../admission/webhook-server.ts'
import { type Api, anApi, type Body, created, sharedApi, until } from './api.ts'
import {
  aConvertedKind,
  answeringObjects,
  type ConvertedKind,
  type ConvertedKindOptions,
  convertedObjects,
  converting,
  versionOf,
  widget,
} from './conversion-hook.ts'

const server = sharedApi({ profile: 'kubernetes' })

const changed = (change: (object: Body, called: Called) => unknown): Reply =>
  answeringObjects((called) => ({ convertedObjects: convertedObjects(called).map((object) => change(object, called)) }))

const inMetadata = (metadata: object): Reply => changed((object) => ({ ...object, metadata: { ...object.metadata, ...metadata } }))

const review = (members: object): Reply =>
  withBody((called) => ({
    apiVersion: called.review.apiVersion,
    kind: 'ConversionReview',
    response: { uid: called.request.uid, result: { status: 'Success' }, convertedObjects: convertedObjects(called) },
    ...members,
  }))

/** A fault of a webhook, and the message of the 500 that follows. */
const lies: readonly (readonly [string, Reply, string])[] = [
  [
    'another kind of review',
    review({ kind: 'AdmissionReview' }),
    'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview',
  ],
  [
    'another version of review',
    review({ apiVersion: 'apiextensions.k8s.io/v1beta1' }),
    'failed: expected webhook response of apiextensions.k8s.io/v1',
  ],
  ['no response', review({ response: undefined }), 'failed: no response provided'],
  [
    'another uid',
    answeringObjects((called) => ({ uid: 'x', convertedObjects: convertedObjects(called) })),
    'failed: expected response.uid=',
  ],
  [
    'no status',
    answeringObjects((called) => ({ result: undefined, convertedObjects: convertedObjects(called) })),
    "failed: response.result.status was '', not 'Success'",
  ],
  ['a failure with a message', answeringObjects(() => ({ result: { status: 'Failure', message: 'not today' } })), 'not today'],
  ['no objects', answeringObjects(() => ({})), 'returned 0 objects, expected 1'],
  [
    'too many objects',
    answeringObjects((called) => ({ convertedObjects: [...convertedObjects(called), ...convertedObjects(called)] })),
    'returned 2 objects, expected 1',
  ],
  ['no object', changed(() => 7), 'returned invalid converted object at index 0'],
  ['the version of before', answeringObjects(({ request }) => ({ convertedObjects: request.objects })), 'invalid groupVersion (expected'],
  ['another kind', changed((object) => ({ ...object, kind: 'Gadget' })), 'invalid kind (expected Widget, received Gadget)'],
  ['another name', inMetadata({ name: 'b' }), 'must have the same name: a != b'],
  ['another namespace', inMetadata({ namespace: 'elsewhere' }), 'must have the same namespace'],
  ['another uid of the object', inMetadata({ uid: 'x' }), 'must have the same UID'],
  ['no metadata', changed(({ metadata: _metadata, ...object }) => object), 'must have the same name'],
  ['a wrong label', inMetadata({ labels: { '-': 'x' } }), 'returned invalid metadata in object at index 0'],
  ['no JSON', withBody(() => '{'), 'failed: the answer is not JSON'],
  ['nothing', withBody(() => '', { code: 202 }), '0-length response with status code: 202'],
  [
    'a 500',
    withBody(() => 'later', { code: 500, type: 'text/plain' }),
    'an error on the server ("later") has prevented the request from succeeding',
  ],
  ['a 503', withBody(() => 'later', { code: 503 }), 'failed: the server is currently unable to handle the request'],
  ['a redirect', withBody(() => '', { code: 302 }), 'redirect'],
]

describe('CRD-128, CRD-129, CRD-130: a webhook that answers', () => {
  test.each(lies)('%s gives a 500 with that reason, and affects no other request', async (_, lie, message) => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    kind.hook.reply = lie
    const object = await api.get(`${kind.at('v2')}/a`)
    expect([object.status, object.body['message']]).toEqual([500, expect.stringContaining(message)])
    expect(object.body['message']).toContain(`conversion webhook for ${kind.group}/v1, Kind=Widget`)
    const list = await api.get(kind.at('v2'))
    expect([list.status, list.body['message']]).toEqual([500, expect.stringContaining(message)])
    expect((await api.get(kind.at('v1'))).body.items).toMatchObject([{ spec: { size: 1 } }])
    kind.hook.reply = converting
    expect((await api.get(`${kind.at('v2')}/a`)).body).toMatchObject({ spec: { box: { size: 1 } } })
  })
})

test('a write whose webhook fails is not stored', async () => {
  const { api } = server
  const kind = await aConvertedKind(api, { reply: answeringObjects(() => ({ result: { status: 'Failure', message: 'no' } })) })
  const made = await api.post(kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 1 } }))
  expect([made.status, made.body['reason'] ?? '', made.body['message']]).toEqual([
    500,
    '',
    expect.stringContaining(`conversion webhook for ${kind.group}/v2, Kind=Widget failed:`),
  ])
  expect((await api.get(kind.at('v1'))).body.items).toEqual([])
  const own = await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
  for (const answer of [
    await api.put(`${kind.at('v2')}/a`, { ...own, apiVersion: `${kind.group}/v2` }),
    await api.patch(`${kind.at('v2')}/a`, { spec: { color: 'red' } }),
    await api.delete(`${kind.at('v2')}/a`),
  ])
    expect(answer.status).toBe(500)
  expect((await api.get(`${kind.at('v1')}/a`)).body).toEqual(own)
})

test('CRD-136: objects that need no conversion are read, written and deleted while the webhook is down, also after writes in other versions', async () => {
  const { api } = server
  const kind = await aConvertedKind(api)
  const { metadata } = await created(api, kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 1 } }))
  kind.hook.stop()
  expect((await api.get(kind.at('v1'))).body.items).toMatchObject([{ spec: { size: 1 } }])
  const { status, body } = await api.patch(`${kind.at('v1')}/a`, { spec: { size: 2 } })
  expect([status, body['spec']]).toEqual([200, expect.objectContaining({ size: 2 })])
  expect(body.metadata['managedFields']).toEqual(metadata['managedFields'])
  const path = `${kind.at('v1')}/a?fieldManager=applier&force=true`
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  const applied = await api.send('PATCH', path, { headers, body: widget(kind, 'v1', 'a', { size: 3 }) })
  expect([applied.status, applied.body['message']]).toEqual([500, expect.stringContaining('conversion webhook for')])
  expect((await api.delete(`${kind.at('v1')}/a`)).status).toBe(200)
})

test('a watch whose webhook fails ends with an error event, and a watch in the stored version continues', async () => {
  const { api } = server
  const kind = await aConvertedKind(api)
  const second = await api.watch(`${kind.at('v2')}?watch=1`)
  const first = await api.watch(`${kind.at('v1')}?watch=1`)
  await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
  expect(await second.next()).toMatchObject({ type: 'ADDED', object: { spec: { box: { size: 1 } } } })
  kind.hook.reply = withBody(() => 'no', { code: 500 })
  await api.patch(`${kind.at('v1')}/a`, { spec: { size: 2 } })
  const message = expect.stringContaining(`conversion webhook for ${kind.group}/v1, Kind=Widget failed:`)
  expect(await second.rest()).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 500, reason: 'InternalError', message } }])
  expect(await first.take(2)).toMatchObject([{ type: 'ADDED' }, { type: 'MODIFIED', object: { spec: { size: 2 } } }])
  const state = await api.watch(`${kind.at('v2')}?watch=1&resourceVersion=0`)
  expect(await state.rest()).toMatchObject([{ type: 'ERROR', object: { code: 500, message } }])
})

const held: readonly (readonly [string, (api: Api, kind: ConvertedKind) => Promise<unknown>])[] = [
  [
    'gets another form',
    (api, kind) =>
      api.patch(kind.definition, { spec: { versions: [versionOf('v1', 'v1'), versionOf('v2', 'v1', { new: { type: 'string' } })] } }),
  ],
  [
    'goes',
    async (api, kind) => {
      await api.patch(kind.definition, { metadata: { finalizers: null } })
      await api.delete(kind.definition)
      await until(
        () => api.get(kind.definition),
        ({ status }) => status === 404,
      )
    },
  ],
]

test.each(held)(
  'CRD-146: a watch gets all changes before its definition %s, including those that its webhook still converts',
  async (_, change) => {
    const { api } = server
    const kind = await aConvertedKind(api)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    const watch = await api.watch(`${kind.at('v2')}?watch=1&resourceVersion=0`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    kind.hook.reply = (called, response) => {
      asked.resolve()
      void isLetGo.then(() => converting(called, response))
    }
    await api.patch(`${kind.at('v1')}/a`, { spec: { size: 2 } })
    await api.delete(`${kind.at('v1')}/a`)
    await asked.promise
    await change(api, kind)
    letGo()
    expect(await watch.rest()).toMatchObject([
      { type: 'MODIFIED', object: { spec: { box: { size: 2 } } } },
      { type: 'DELETED', object: { spec: { box: { size: 2 } } } },
    ])
  },
)

test('an endless answer is not read to its end', async () => {
  const { api } = server
  let sent = 0
  const kind = await aConvertedKind(api, {
    reply: (_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (sent < 100 && !response.destroyed) {
          sent += 1
          if (!response.write(chunk)) return response.once('drain', more)
        }
        return response.end()
      }
      more()
    },
  })
  await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
  const { status, body } = await api.get(`${kind.at('v2')}/a`)
  expect([status, body['message']]).toEqual([500, expect.stringContaining('the answer has more than 3145728 bytes')])
  expect(sent).toBeLessThan(100)
})

test('a webhook that cannot be reached is reported with the reason', async () => {
  const { api } = server
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const cases: readonly (readonly [ConvertedKindOptions, string])[] = [
    [
      { clientConfig: ({ caBundle }) => ({ url: `https://127.0.0.1:${port}/convert`, caBundle }) },
      `Post "https://127.0.0.1:${port}/convert?timeout=30s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    ],
    [{ clientConfig: ({ url }) => ({ url }) }, 'certificate'],
    [{ clientConfig: ({ caBundle }) => ({ service: { namespace: 'default', name: 'absent' }, caBundle }) }, 'service "absent" not found'],
  ]
  for (const [options, message] of cases) {
    const kind = await aConvertedKind(api, options)
    await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
    const { status, body } = await api.get(`${kind.at('v2')}/a`)
    expect([status, body['message']]).toEqual([500, expect.stringContaining(message)])
  }
})

const inService = (port: number) => (hook: WebhookServer) => ({
  service: { name: 'converter', namespace: 'default', path: '/turn', port },
  caBundle: hook.caBundle,
})

test('a webhook behind a Service is resolved like those of admission, and its certificate must have the name of the Service', async () => {
  const { api } = server
  const hook = await aWebhookServer(converting, { dnsNames: ['converter.default.svc'] })
  await created(api, '/api/v1/namespaces/default/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'converter' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  const kind = await aConvertedKind(api, { hook, clientConfig: inService(hook.port) })
  await created(api, kind.at('v1'), widget(kind, 'v1', 'a', { size: 1 }))
  expect((await api.get(`${kind.at('v2')}/a`)).body).toMatchObject({ spec: { box: { size: 1 } } })
  expect(hook.calls[0]).toMatchObject({ url: '/turn?timeout=30s', serverName: 'converter.default.svc' })
  const other = await aWebhookServer(converting)
  const refused = await aConvertedKind(api, { hook: other, clientConfig: inService(other.port) })
  await created(api, refused.at('v1'), widget(refused, 'v1', 'a', { size: 1 }))
  const { status, body } = await api.get(`${refused.at('v2')}/a`)
  expect([status, body['message']]).toEqual([500, expect.stringContaining('converter.default.svc')])
})

test('--webhook-service-map gives the address of a conversion webhook’s Service', async () => {
  const hook = await aWebhookServer(converting, { dnsNames: ['converter.default.svc'] })
  const api = await anApi({ profile: 'kubernetes', flags: [`--webhook-service-map=default/converter=127.0.0.1:${hook.port}`] })
  const kind = await aConvertedKind(api, { hook, clientConfig: inService(443) })
  await created(api, kind.at('v2'), widget(kind, 'v2', 'a', { box: { size: 1 } }))
  expect((await api.get(`${kind.at('v1')}/a`)).body).toMatchObject({ spec: { size: 1 } })
})
