import { connect } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { aNamespace, configMap, configMapsIn, created, failure, sharedApi, someConfigMaps } from './api.ts'

const server = sharedApi({ version: '1.25' })

const json = { 'content-type': 'application/json' }

describe('the complete Status of each reason', () => {
  test('ERR-18: 404 NotFound has its reason and details', async () => {
    const { status, headers, body, text } = await server.api.get(`${configMapsIn('default')}/none`)
    expect(status).toBe(404)
    expect(headers['content-type']).toBe('application/json')
    expect(body).toEqual(failure(404, 'NotFound', 'configmaps "none" not found', { name: 'none', kind: 'configmaps' }))
    expect(text).toMatch(/^\{"kind":"Status","apiVersion":"v1","metadata":\{\},"status":"Failure","message":/)
  })

  test('ERR-18: 404 has the group of a named group', async () => {
    const { body } = await server.api.get('/apis/storage.orch.io/v1/csinodes/none')
    expect(body).toEqual(
      failure(404, 'NotFound', 'csinodes.storage.orch.io "none" not found', { name: 'none', group: 'storage.orch.io', kind: 'csinodes' }),
    )
  })

  test.each([
    '/api/v1/things',
    '/api/v9',
    '/api/v9/pods',
    '/apis/storage.orch.io/v9',
    '/apis/storage.orch.io/v9/csinodes',
    '/apis/storage.orch.io/v1/things',
    '/api/v1/namespaces/default/configmaps/a/things',
    '/api/v1/namespaces/default/pods/a/status/more',
  ])('ERR-18, ERR-19: a 404 below a served group, %s, is a Status', async (path) => {
    const { status, body } = await server.api.get(path)
    expect(status).toBe(404)
    expect(body).toEqual(failure(404, 'NotFound', 'the server could not find the requested resource', {}))
  })

  test('ERR-18, ERR-19: a 404 below an unserved group is no Status', async () => {
    for (const path of ['/apis/none.example.com/v1/things', '/apis/none.example.com/v1', '/apis/none.example.com']) {
      const { status, headers, text } = await server.api.get(path)
      expect({ status, text, type: headers['content-type'] }).toEqual({
        status: 404,
        text: '404 page not found\n',
        type: 'text/plain; charset=utf-8',
      })
    }
  })

  test.each(['GET', 'POST', 'DELETE'])('ERR-18, ERR-19: %s outside of the API is no Status', async (method) => {
    const { status, headers, text } = await server.api.send(method, '/none')
    expect({ status, text, type: headers['content-type'] }).toEqual({
      status: 404,
      text: '404 page not found\n',
      type: 'text/plain; charset=utf-8',
    })
  })

  test.each([
    ['ingresses', 'Ingress', {}],
    ['networkpolicies', 'NetworkPolicy', { podSelector: {}, policyTypes: ['Nothing'] }],
  ])('ERR-18: failures of %s name their first group', async (plural, kind, spec) => {
    const path = `/apis/networking.orch.io/v1/namespaces/default/${plural}`
    const object = { apiVersion: 'networking.orch.io/v1', kind, metadata: { name: 'bad' }, spec }
    const { status, body } = await server.api.post(path, object)
    expect(status).toBe(422)
    expect(body['message']).toContain(`${kind}.extensions "bad" is invalid: `)
    expect(body['details']).toMatchObject({ group: 'extensions', kind })
  })

  test('ADDR-17: the root lists all paths, sorted, with each health check', async () => {
    const { status, body } = await server.api.get('/')
    const listed = body['paths'] as string[]
    expect(status).toBe(200)
    expect(listed).toEqual([...listed].sort())
    expect(listed).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis', '/apis/storage.orch.io/v1', '/livez/ping', '/readyz/shutdown']),
    )
    for (const path of listed.filter((one) => /^\/(?:healthz|livez|readyz)/.test(one))) {
      expect({ path, status: (await server.api.get(path)).status }).toEqual({ path, status: 200 })
    }
  })

  test('ERR-18, ERR-19: 405 MethodNotAllowed has its reason', async () => {
    const { status, body } = await server.api.put(configMapsIn('default'), configMap({ name: 'a' }))
    expect(status).toBe(405)
    expect(body).toEqual(failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {}))
  })

  test('ERR-07, ERR-18, NEG-09: 406 NotAcceptable has its reason', async () => {
    const { status, body } = await server.api.get(configMapsIn('default'), { accept: 'text/html' })
    expect(status).toBe(406)
    const media = ['application/json', 'application/yaml', 'application/vnd.orch.protobuf']
    const streamed = ['application/json;stream=watch', 'application/vnd.orch.protobuf;stream=watch']
    const text = (types: string[]) => `406: Not Acceptable\n\nAvailable representations: ${types.join(', ')}`
    expect(body).toEqual(failure(406, 'NotAcceptable', text([...media, ...streamed]), {}))
    const one = await server.api.get(`${configMapsIn('default')}/a`, { accept: 'text/html' })
    expect(one.body).toEqual(failure(406, 'NotAcceptable', text(media), {}))
    const parameters = await server.api.get(configMapsIn('default'), { accept: 'application/json;as=Nothing;v=v1;g=meta.orch.io' })
    const message = `only the following media types are accepted: ${media.join(', ')}`
    expect(parameters.body).toEqual(failure(406, 'NotAcceptable', message))
  })

  test('ERR-18, ERR-19: 415 UnsupportedMediaType has its reason', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.post(path, configMap({ name: 'b' }), { 'content-type': 'text/csv' })
    expect(status).toBe(415)
    const message = expect.stringMatching(
      /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/,
    ) as unknown
    expect(body).toEqual(failure(415, 'UnsupportedMediaType', message as string))
    const patch = await server.api.send('PATCH', `${path}/a`, { body: {}, headers: json })
    expect(patch.body).toEqual(failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {}))
  })

  test('ERR-18, LIM-12: 413 RequestEntityTooLarge has its reason', async () => {
    const data = { x: 'v'.repeat(3 * 1024 * 1024) }
    const path = await someConfigMaps(server.api, 'a')
    const tooLarge = failure(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728')
    expect((await server.api.post(path, configMap({ name: 'b', data }))).body).toEqual(tooLarge)
    expect((await server.api.patch(`${path}/a`, { data })).body).toEqual(tooLarge)
    expect((await server.api.get(path)).body.items).toHaveLength(1)
  })

  test('ERR-18, ERR-19: 422 Invalid names every invalid field', async () => {
    const { status, body } = await server.api.post('/apis/storage.orch.io/v1/volumeattachments', {
      apiVersion: 'storage.orch.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: 'a' },
      spec: { attacher: '', nodeName: '', source: {} },
    })
    expect(status).toBe(422)
    expect(body).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Invalid',
      message: expect.stringMatching(/^VolumeAttachment\.storage\.orch\.io "a" is invalid: \[spec\.attacher: Required value.*, .*\]$/),
      details: { name: 'a', group: 'storage.orch.io', kind: 'VolumeAttachment' },
      code: 422,
    })
    const { causes } = body['details'] as { causes: { field: string }[] }
    expect(causes.map(({ field }) => field)).toEqual(expect.arrayContaining(['spec.attacher', 'spec.source', 'spec.nodeName']))
  })

  test('ERR-18, ERR-19: 403 Forbidden is for a terminating namespace', async () => {
    const namespace = await aNamespace(server.api)
    const path = configMapsIn(namespace)
    await server.api.post(path, configMap({ name: 'held', finalizers: ['example.com/hold'] }))
    expect((await server.api.delete(`/api/v1/namespaces/${namespace}`)).status).toBe(200)
    const { status, body } = await server.api.post(path, configMap({ name: 'a' }))
    expect(status).toBe(403)
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`
    expect(body).toEqual(
      failure(403, 'Forbidden', `configmaps "a" is forbidden: ${why}`, {
        name: 'a',
        kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' }],
      }),
    )
    await server.api.patch(`${path}/held`, { metadata: { finalizers: null } })
  })

  test('ERR-18: 504 Timeout is for a request past its deadline', async () => {
    const { status, body } = await server.api.get(`${configMapsIn('default')}?resourceVersion=9007199254740000&timeout=50ms`)
    expect(status).toBe(504)
    expect(body).toMatchObject({ reason: 'Timeout', message: expect.stringMatching(/^Timeout: /) })
  })

  test.each([
    ['soon', 'invalid duration "soon"'],
    ['5', 'missing unit in duration "5"'],
    ['1h2', 'missing unit in duration "1h2"'],
    ['5x', 'unknown unit "x" in duration "5x"'],
    ['1sx', 'unknown unit "sx" in duration "1sx"'],
    ['9999999999h', 'invalid duration "9999999999h"'],
  ])('ERR-18, MACH-WRITE-02: the timeout %s is a 400 with the reason', async (timeout, problem) => {
    const { status, body } = await server.api.get(`${configMapsIn('default')}?timeout=${timeout}`)
    expect([status, body['message']]).toEqual([400, `invalid timeout specified in the request URL - time: ${problem}`])
  })
})

describe('invalid bodies', () => {
  const post = async (body: string, type = 'application/json') => server.api.post(configMapsIn('default'), body, { 'content-type': type })

  test.each([
    ['nothing', ''],
    ['no JSON', '{"kind":'],
    ['a text', '"text"'],
    ['a number', '12'],
    ['an array', '[]'],
    ['two objects', '{}{}'],
    ['bytes that are no text', '\u0000\u0001'],
    ['a lone brace', '}'],
  ])('ERR-19, EP-35: such as %s are a 400', async (_what, body) => {
    const { status, body: answer } = await post(body)
    expect({ status, reason: answer['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(answer['message']).toMatch(
      /^the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error: /,
    )
  })

  test('ERR-19: with 100,000 nested arrays are a 400, and the server continues', async () => {
    const { status } = await post(
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    )
    expect(status).toBe(400)
    expect((await server.api.get('/livez')).text).toBe('ok')
  })

  test.each([
    ['null', 'application/json', 'null'],
    ['YAML of nothing', 'application/yaml', ''],
    ['YAML of a comment alone', 'application/yaml', '# nothing\n'],
  ])('EP-35: such as %s are objects without a name', async (_what, type, body) => {
    const { status, body: answer } = await server.api.send('POST', `/api/v1/namespaces/default/configmaps`, {
      body,
      headers: { 'content-type': type },
    })
    expect({ status, message: answer['message'] }).toEqual({
      status: 422,
      message: 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    })
  })

  test('ERR-19: in invalid YAML are a 400', async () => {
    expect(await post('a: [', 'application/yaml')).toMatchObject({ status: 400, body: { reason: 'BadRequest' } })
  })

  test('ERR-19: in YAML with anchors that expand without end are refused or parsed in bounded time', async () => {
    const lines = ['a0: &a0 [x]', ...Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at},*a${at}]`)]
    const { status } = await post(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${lines.join('\n')}\n`, 'application/yaml')
    expect(status).toBeOneOf([201, 400])
    expect((await server.api.get('/livez')).text).toBe('ok')
  })

  test.each([
    ['another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, /Secret/],
    [
      'a version without the kind',
      { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      /^ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps\/v1" in scheme /,
    ],
    [
      'an unknown kind',
      { apiVersion: 'v1', kind: 'Zork', metadata: { name: 'a' } },
      /^Zork in version "v1" cannot be handled as a ConfigMap: no kind "Zork" is registered for version "v1" in scheme /,
    ],
    [
      'another namespace',
      configMap({ name: 'a', namespace: 'other' }),
      /^the namespace of the provided object does not match the namespace sent on the request$/,
    ],
    ['labels that are no texts', configMap({ name: 'a', labels: { x: 1 } }), /labels/],
    ['data that is no map', { ...configMap({ name: 'a' }), data: [] }, /data/],
    ['metadata that is no object', { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'a' }, /metadata/],
  ])('ERR-19: %s is a bad request', async (_what, object, message) => {
    const { status, body } = await server.api.post(configMapsIn('default'), object)
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toMatch(message)
  })

  test('ERR-19: with another version of the kind are a 400', async () => {
    const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
    const object = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } }
    const message = 'the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)'
    expect(await server.api.post(path, object)).toMatchObject({ status: 400, body: failure(400, 'BadRequest', message) })
  })

  test.each([
    ['begins with a brace', '{nope', "invalid character 'n' looking for beginning of object key string ({nope)"],
    ['is long', `{${' '.repeat(40)}x`, `invalid character 'x' looking for beginning of object key string ({${' '.repeat(29)} ...)`],
    ['begins with anything else', '[1', 'unexpected end of JSON input (5b31)'],
    ['is empty', '', 'unexpected end of JSON input (<empty>)'],
  ])('ERR-19: are quoted at their beginning in the message for a body that %s', async (_what, text, why) => {
    const { body } = await post(text)
    expect(body['message']).toBe(
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: ${why}`,
    )
  })

  test('ERR-19: with another name than the path are a 400', async () => {
    const path = await someConfigMaps(server.api, 'w1')
    const { status, body } = await server.api.put(`${path}/w1`, configMap({ name: 'w2' }))
    expect(status).toBe(400)
    expect(body).toEqual(failure(400, 'BadRequest', 'the name of the object (w2) does not match the name on the URL (w1)'))
  })

  test('ERR-19: with a version on a new object are a 400', async () => {
    const { status, body } = await server.api.post(configMapsIn('default'), configMap({ name: 'a', resourceVersion: '1' }))
    expect(status).toBe(400)
    expect(body).toEqual(failure(400, 'BadRequest', 'resourceVersion should not be set on objects to be created'))
  })

  test('ERR-19: with an invalid version are a 400', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.put(`${path}/a`, configMap({ name: 'a', resourceVersion: 'abc' }))
    expect(status).toBe(400)
    expect(body['message']).toContain('strconv.ParseUint: parsing "abc": invalid syntax')
  })

  test('ERR-19: without a version may not replace objects of some kinds', async () => {
    const path = '/apis/storage.orch.io/v1/csinodes'
    const csiNode = { apiVersion: 'storage.orch.io/v1', kind: 'CSINode', metadata: { name: 'versionless' }, spec: { drivers: [] } }
    await server.api.post(path, csiNode)
    const { status, body } = await server.api.put(`${path}/versionless`, csiNode)
    expect(status).toBe(422)
    expect(body['message']).toBe(
      'csinodes.storage.orch.io "versionless" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
    )
  })

  test.each(['FlowSchema', 'PriorityLevelConfiguration'])('ERR-19: without a version may replace a %s', async (kind) => {
    const path = `/apis/flowcontrol.apiserver.orch.io/v1beta2/${kind.toLowerCase()}s`
    const apiVersion = 'flowcontrol.apiserver.orch.io/v1beta2'
    const limited = { assuredConcurrencyShares: 1, limitResponse: { type: 'Reject' } }
    const schema = { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'exempt' } }
    const spec = kind === 'FlowSchema' ? schema : { type: 'Limited', limited }
    const object = { apiVersion, kind, metadata: { name: 'versionless' }, spec }
    await created(server.api, path, object)
    expect((await server.api.put(`${path}/versionless`, object)).status).toBe(200)
  })

  test.each([
    ['another name', { metadata: { name: 'b' } }, 'the name of the object (b) does not match the name on the URL (a)'],
    ['no name', { metadata: { name: null } }, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    [
      'another namespace',
      { metadata: { namespace: 'b' } },
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
  ])('ERR-19: of a patch that gives %s are a 400, in any patch type', async (_what, patch, message) => {
    const path = `${await someConfigMaps(server.api, 'a')}/a`
    const { metadata } = patch
    const [field, value] = Object.entries(metadata)[0] as [string, string | null]
    const json = value === null ? [{ op: 'remove', path: '/metadata/name' }] : [{ op: 'replace', path: `/metadata/${field}`, value }]
    const strategic = { body: patch, headers: { 'content-type': 'application/strategic-merge-patch+json' } }
    const answers = [
      await server.api.patch(path, patch),
      await server.api.patch(path, json),
      await server.api.send('PATCH', path, strategic),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(400)
      expect(body).toEqual(failure(400, 'BadRequest', message))
    }
  })

  test('ERR-19: with a finalizer without a domain are a 422, in a create and in an update', async () => {
    const message = '"nodomain": name is neither a standard finalizer name nor is it fully qualified'
    const path = await someConfigMaps(server.api, 'a')
    const made = await server.api.post(path, configMap({ name: 'b', finalizers: ['example.com/a', 'nodomain'] }))
    const patched = await server.api.patch(`${path}/a`, { metadata: { finalizers: ['nodomain'] } })
    expect([made.status, patched.status]).toEqual([422, 422])
    expect(made.body['message']).toBe(`ConfigMap "b" is invalid: metadata.finalizers[1]: Invalid value: ${message}`)
    expect(patched.body['message']).toBe(`ConfigMap "a" is invalid: metadata.finalizers[0]: Invalid value: ${message}`)
  })

  test('ERR-19: may have standard finalizers without a domain, also on webhook configurations', async () => {
    const path = await someConfigMaps(server.api, 'a')
    for (const finalizer of ['orch', 'orphan', 'foregroundDeletion']) {
      expect((await server.api.patch(`${path}/a`, { metadata: { finalizers: [finalizer] } })).status).toBe(200)
    }
    const kind = 'ValidatingWebhookConfiguration'
    const hooks = { apiVersion: 'admissionregistration.orch.io/v1', kind, metadata: { name: 'bare', finalizers: ['nodomain'] } }
    expect((await server.api.post('/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations', hooks)).status).toBe(201)
  })

  test.each([
    ['fieldManager', `fieldManager=${'m'.repeat(129)}`, 'fieldManager'],
    ['fieldValidation', 'fieldValidation=Sometimes', 'fieldValidation'],
    ['dryRun', 'dryRun=Some', 'dryRun'],
  ])('QP-14, QP-15, QP-16: an invalid %s is a 422', async (_what, query, field) => {
    const { status, body } = await server.api.post(`${configMapsIn('default')}?${query}`, configMap({ name: 'a' }))
    expect(status).toBe(422)
    expect(body).toMatchObject({ reason: 'Invalid', details: { group: 'meta.orch.io', kind: 'CreateOptions', causes: [{ field }] } })
  })

  test('QP-17: force is for apply only', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.patch(`${path}/a?force=true`, {})
    expect(status).toBe(422)
    expect(body['message']).toBe('PatchOptions.meta.orch.io "" is invalid: force: Forbidden: may not be specified for non-apply patch')
  })
})

describe('headers and codes', () => {
  test('ERR-15, ERR-18: every answer has the same headers', async () => {
    for (const target of ['/api', configMapsIn('default'), `${configMapsIn('default')}/none`, '/version', '/none']) {
      const { headers } = await server.api.get(target)
      expect(headers).toMatchObject({
        'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'cache-control': 'no-cache, private',
        'content-type': expect.stringMatching(/./),
        date: expect.stringMatching(/GMT$/),
      })
    }
  })

  test('ERR-18: an answer has the audit ID of its request', async () => {
    expect((await server.api.get('/api', { 'audit-id': 'mine' })).headers['audit-id']).toBe('mine')
  })

  test('ERR-15: a create is answered with 201, and other successful requests with 200', async () => {
    const path = await someConfigMaps(server.api)
    const codes = [
      (await server.api.post(path, configMap({ name: 'a' }))).status,
      (await server.api.put(`${path}/a`, configMap({ name: 'a' }))).status,
      (await server.api.patch(`${path}/a`, {})).status,
      (await server.api.get(`${path}/a`)).status,
      (await server.api.get(path)).status,
      (await server.api.delete(`${path}/a`)).status,
      (await server.api.delete(path)).status,
    ]
    expect(codes).toEqual([201, 200, 200, 200, 200, 200, 200])
  })

  test('ERR-18: errors are in YAML on request', async () => {
    const { status, headers, text } = await server.api.get(`${configMapsIn('default')}/none`, { accept: 'application/yaml' })
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/yaml' })
    expect(text).toMatch(/^apiVersion: v1\ncode: 404\n/)
    expect(text).toContain('reason: NotFound')
  })

  test('ERR-19: an unknown method is refused', async () => {
    expect((await server.api.send('OPTIONS', configMapsIn('default'))).status).toBe(405)
  })

  test('LIM-12: a header over the limit does not harm the server', async () => {
    const code = await server.api.get('/livez', { 'x-long': 'h'.repeat(2 * 1024 * 1024) }).then(
      ({ status }) => status,
      () => 'closed',
    )
    expect(code).toBeOneOf([431, 'closed'])
    expect((await server.api.get('/livez')).text).toBe('ok')
  })

  test('LIM-12: bytes other than HTTP do not harm the server', async () => {
    const { hostname, port } = new URL(server.api.url)
    const answer = await new Promise<string>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
      socket.write('NONSENSE\r\n\r\n')
    })
    expect(answer).toMatch(/^(HTTP\/1\.1 400|$)/)
    expect((await server.api.get('/livez')).text).toBe('ok')
  })
})
