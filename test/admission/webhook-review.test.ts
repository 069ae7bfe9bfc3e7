import { describe, expect, test } from 'vitest'
import { aName, aNamespace, configMap, created, sharedApi } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching, toBase64, withBody } from './webhook-server.ts'

// Without this, the test would count the ConfigMap that a controller puts into every namespace.
const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

describe('a webhook’s request about a create, an update and a delete', () => {
  async function threeCalls() {
    const { api } = server
    const hook = await aWebhookServer(allowing)
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
    const { path, namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
    await created(api, path, configMap({ name: 'a', data: { x: '1' } }))
    await api.put(`${path}/a`, configMap({ name: 'a', data: { x: '2' } }))
    await api.delete(`${path}/a`)
    const [create, update, remove] = hook.calls
    return { namespace, create, update, remove }
  }

  test('ADM-REV-01, ADM-REV-02: an AdmissionReview is posted as JSON', async () => {
    expect((await threeCalls()).create).toMatchObject({
      method: 'POST',
      url: '/hook?timeout=10s',
      headers: { 'content-type': 'application/json', 'user-agent': 'orch-apiserver-admission' },
      review: { kind: 'AdmissionReview', apiVersion: 'admission.orch.io/v1', request: expect.anything() },
    })
  })

  test('ADM-REV-04, ADM-REV-05, ADM-REV-07, ADM-REV-08: has the kind and the resource, which without a conversion equal the original request’s', async () => {
    const { create } = await threeCalls()
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    expect(create?.request).toMatchObject({ kind, resource, requestKind: kind, requestResource: resource })
    expect(create?.request).not.toHaveProperty('subResource')
  })

  test('ADM-REV-09, ADM-REV-10, ADM-REV-11: has the object, the operation, and the user', async () => {
    const { namespace, create, update, remove } = await threeCalls()
    const userInfo = { username: 'orch-admin', groups: ['system:masters', 'system:authenticated'] }
    expect(create?.request).toMatchObject({ name: 'a', namespace, operation: 'CREATE', userInfo })
    expect(update?.request).toMatchObject({ name: 'a', namespace, operation: 'UPDATE', userInfo })
    expect(remove?.request).toMatchObject({ name: 'a', namespace, operation: 'DELETE', userInfo })
  })

  test('ADM-REV-12…ADM-REV-15: has the object, the old object, the dry run flag, and the options', async () => {
    const { namespace, create, update, remove } = await threeCalls()
    expect(create?.request).toMatchObject({
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace }, data: { x: '1' } },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.orch.io/v1' },
    })
    expect(update?.request).toMatchObject({
      object: { data: { x: '2' } },
      oldObject: { data: { x: '1' } },
      options: { kind: 'UpdateOptions' },
    })
    expect(remove?.request).toMatchObject({ object: null, oldObject: { data: { x: '2' } }, options: { kind: 'DeleteOptions' } })
  })
})

test('ADM-REV-09: a generated name is sent only to validating webhooks', async () => {
  const { api } = server
  const change = await aWebhookServer(allowing)
  const judge = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  await aConfiguration(api, 'mutating', [aHook(change, namespace)])
  await aConfiguration(api, 'validating', [aHook(judge, namespace)])
  const { metadata } = await created(api, path, configMap({ generateName: 'made-' }))
  expect(metadata.name).toMatch(/^made-[a-z0-9]{5}$/)
  expect(change.calls[0]?.request).toMatchObject({ object: { metadata: { generateName: 'made-' } } })
  expect(change.calls[0]?.request).not.toHaveProperty('name')
  expect(change.calls[0]?.request.object.metadata).not.toHaveProperty('name')
  expect(judge.calls[0]?.request).toMatchObject({ name: metadata.name, object: { metadata: { name: metadata.name } } })
})

test('META-15: uid and creation time of a new object, and derived members of its kind, are sent only to validating webhooks', async () => {
  const { api } = server
  const change = await aWebhookServer(allowing)
  const judge = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  const rules = [{ operations: ['CREATE'], apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'] }]
  await aConfiguration(api, 'mutating', [aHook(change, namespace, { rules })])
  await aConfiguration(api, 'validating', [aHook(judge, namespace, { rules })])
  const given = {
    name: 'j',
    uid: 'mine',
    creationTimestamp: '2001-01-01T00:00:00Z',
    generation: 7,
    deletionTimestamp: '2001-01-01T00:00:00Z',
  }
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] }
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: given, spec: { template: { spec: podSpec } } }
  const { metadata, spec } = await created(api, `/apis/batch/v1/namespaces/${namespace}/jobs`, job)
  const seen = change.calls[0]?.request.object as typeof job
  expect(Object.keys(seen.metadata)).toEqual(['name', 'namespace', 'generation', 'managedFields'])
  // The other fields have their defaults.
  expect(seen.spec).toMatchObject({ parallelism: 1, template: { spec: { dnsPolicy: 'ClusterFirst' } } })
  expect(seen.spec).not.toHaveProperty('selector')
  const { resourceVersion: _none, ...judged } = metadata
  expect(judge.calls[0]?.request.object).toMatchObject({ metadata: judged, spec })
  expect(judged).toMatchObject({ generation: 1, labels: { 'controller-uid': metadata.uid, 'job-name': 'j' } })
})

test('KIND-MISC-07: the allocated addresses of a Service are sent only to validating webhooks, and released when a webhook refuses', async () => {
  const { api } = server
  const change = await aWebhookServer(allowing)
  const judge = await aWebhookServer(answering(({ request }) => ({ allowed: request.name !== 'no' })))
  const namespace = await aNamespace(api)
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['services'] }]
  await aConfiguration(api, 'mutating', [aHook(change, namespace, { rules })])
  await aConfiguration(api, 'validating', [aHook(judge, namespace, { rules })])
  const path = `/api/v1/namespaces/${namespace}/services`
  const aService = (name: string, spec = {}) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  })
  const { spec } = await created(api, path, aService('yes'))
  expect(spec).toMatchObject({ clusterIP: expect.any(String), clusterIPs: [expect.any(String)], ipFamilies: ['IPv4'] })
  expect(change.calls[0]?.request.object).not.toHaveProperty('spec.clusterIP')
  expect(judge.calls[0]?.request.object).toMatchObject({ spec })
  const { body } = await api.patch(`${path}/yes`, { spec: { type: 'NodePort' } })
  expect(body).toMatchObject({ spec: { ports: [{ nodePort: expect.any(Number) }] } })
  expect(judge.calls[1]?.request.object).toMatchObject({ spec: body['spec'] })
  const fixed = { clusterIP: '10.0.0.8' }
  expect((await api.post(path, aService('no', fixed))).status).toBe(400)
  await created(api, path, aService('other', fixed))
})

test('a webhook may name an object that has only a generateName', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/metadata/name', value: 'given' }]))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  expect((await created(api, path, configMap({ generateName: 'made-' }))).metadata.name).toBe('given')
})

test('a refusal before an object has its name contains the generateName', async () => {
  const { api } = server
  const namespace = await aNamespace(api)
  const spec = { serviceAccountName: 'nobody', containers: [{ name: 'c', image: 'i' }] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'made-' }, spec }
  const { body } = await api.post(`/api/v1/namespaces/${namespace}/pods`, pod)
  const why = `error looking up service account ${namespace}/nobody: serviceaccount "nobody" not found`
  expect(body).toMatchObject({ code: 403, message: `pods "made-" is forbidden: ${why}` })
})

test('a Namespace with a generated name gets its name label', async () => {
  const { api } = server
  const { metadata } = await created(api, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { generateName: 'made-' },
  })
  expect(metadata.labels).toEqual({ 'orch.io/metadata.name': metadata.name })
})

test('ADM-REV-14: the options contain only the options of the client', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'serviceaccounts/token'] }]
  const { path, namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
  const said = 'fieldManager=me&fieldValidation=Strict&dryRun=All'
  await api.post(`${path}?${said}`, configMap({ name: 'a' }))
  await api.send('PATCH', `${path}/a?fieldManager=me&force=true`, {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: configMap({ name: 'a' }),
  })
  await api.patch(`${path}/a?${said}`, { data: { x: 'y' } })
  await api.delete(`${path}/a?dryRun=All&gracePeriodSeconds=3`)
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await created(api, accounts, { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'x' } })
  const tokenRequest = { kind: 'TokenRequest', apiVersion: 'authentication.orch.io/v1', spec: {} }
  await api.post(`${accounts}/x/token`, tokenRequest)
  await api.post(`${accounts}/x/token?${said}`, tokenRequest)
  const apiVersion = 'meta.orch.io/v1'
  const all = { apiVersion, dryRun: ['All'], fieldManager: 'me', fieldValidation: 'Strict' }
  expect(hook.calls.map(({ request }) => request.options)).toEqual([
    { kind: 'CreateOptions', ...all },
    { kind: 'CreateOptions', apiVersion, fieldManager: 'me' },
    { kind: 'UpdateOptions', ...all },
    { kind: 'DeleteOptions', apiVersion, dryRun: ['All'], gracePeriodSeconds: 3 },
    { kind: 'CreateOptions', apiVersion },
    { kind: 'CreateOptions', ...all },
  ])
})

test('ADM-REV-03: each call has a unique uid, also for two webhooks of one request', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'validating', [aHook(hook, namespace), aHook(hook, namespace)])
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  await created(api, path, configMap({ name: 'a' }))
  await created(api, path, configMap({ name: 'b' }))
  expect(new Set(hook.calls.map(({ request }) => request.uid)).size).toBe(4)
})

test('ADM-REV-11, IMP-18: the review has the impersonated user with uid and extra', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook)
  const headers = {
    'impersonate-user': 'jane',
    'impersonate-uid': 'u-7',
    'impersonate-group': 'system:masters',
    'impersonate-extra-scopes': 'a',
  }
  expect((await api.post(path, configMap({ name: 'a' }), headers)).status).toBe(201)
  expect(hook.calls[0]?.request.userInfo).toEqual({
    username: 'jane',
    uid: 'u-7',
    groups: ['system:masters', 'system:authenticated'],
    extra: { scopes: ['a'] },
  })
})

test('ADM-WH-08, ADM-REV-17, VER-14: the first supported version of the list is sent, and the answer has the same version', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const { path } = await aHookedNamespace(api, 'validating', hook, { admissionReviewVersions: ['v9', 'v1beta1', 'v1'] })
  await created(api, path, configMap({ name: 'a' }))
  expect(hook.calls[0]?.review.apiVersion).toBe('admission.orch.io/v1beta1')
})

test('ADM-REV-20, ADM-REV-21, ADM-FLOW-05, ADM-FLOW-20: a refusal has the message and the code of the webhook', async () => {
  const { api } = server
  const status = { code: 409, message: 'too late', reason: 'Conflict' }
  const hook = await aWebhookServer(answering(() => ({ allowed: false, status })))
  const { path, hook: name } = await aHookedNamespace(api, 'validating', hook)
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body).toMatchObject({
    kind: 'Status',
    status: 'Failure',
    code: 409,
    reason: 'Conflict',
    message: `admission webhook "${name}" denied the request: too late`,
  })
  expect((await api.get(`${path}/a`)).status).toBe(404)
})

test.each([
  ['nothing', {}, 400, ' without explanation'],
  ['a reason', { status: { reason: 'Because' } }, 400, ': Because'],
  ['a code of success', { status: { code: 200, message: 'm', status: 'Success' } }, 400, ': m'],
  ['a code that HTTP does not have', { status: { code: 1000, message: 'm' } }, 500, ': m'],
])('ADM-REV-19, ADM-REV-20, ERR-20: a refusal with %s has the expected code and text', async (_what, more, code, text) => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: false, ...more })))
  const { path, hook: name } = await aHookedNamespace(api, 'mutating', hook)
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body).toMatchObject({ code, status: 'Failure', message: `admission webhook "${name}" denied the request${text}` })
})

test('ADM-REV-22, ADM-REV-23, ADM-FLOW-01: a patch changes the stored object, and the input of later webhooks', async () => {
  const { api } = server
  const first = await aWebhookServer(patching(() => [{ op: 'add', path: '/data/added', value: 'yes' }]))
  const second = await aWebhookServer(patching(({ request }) => [{ op: 'add', path: '/data/seen', value: request.object.data.added }]))
  const judge = await aWebhookServer(allowing)
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [aHook(first, namespace), aHook(second, namespace)])
  await aConfiguration(api, 'validating', [aHook(judge, namespace)])
  const data = { given: '1', added: 'yes', seen: 'yes' }
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  expect(await created(api, path, configMap({ name: 'a', data: { given: '1' } }))).toMatchObject({ data })
  expect((await api.get(`${path}/a`)).body).toMatchObject({ data })
  expect(judge.calls[0]?.request.object.data).toEqual(data)
})

test('ADM-REV-24: the patch of a refusal is ignored', async () => {
  const { api } = server
  const patch = Buffer.from('[{"op":"add","path":"/data","value":{}}]').toString('base64')
  const hook = await aWebhookServer(answering(() => ({ allowed: false, patchType: 'JSONPatch', patch })))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(400)
})

test('ADM-FLOW-06: a patch of a validating webhook changes nothing', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { a: 'b' } }]))
  const older = await aHookedNamespace(api, 'validating', hook, { admissionReviewVersions: ['v1beta1'] })
  expect(await created(api, older.path, configMap({ name: 'a' }))).not.toHaveProperty('data')
  const { path, hook: name } = await aHookedNamespace(api, 'validating', hook)
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body).toMatchObject({
    code: 500,
    reason: 'InternalError',
    message:
      `Internal error occurred: failed calling webhook "${name}": ` +
      'received invalid webhook response: validating webhook may not return response.patch',
  })
})

test('ADM-REV-25, ADM-REV-27, ADM-FLOW-22: warnings of all webhooks are returned, for an allowed and a refused request', async () => {
  const { api } = server
  const one = await aWebhookServer(answering(() => ({ allowed: true, warnings: ['one', 'a "quoted" word'] })))
  const two = await aWebhookServer(answering(() => ({ allowed: true, warnings: ['two'] })))
  const no = await aWebhookServer(answering(({ request }) => ({ allowed: request.name !== 'bad', warnings: ['three'] })))
  const namespace = await aNamespace(api)
  await aConfiguration(api, 'mutating', [aHook(one, namespace)])
  await aConfiguration(api, 'validating', [aHook(two, namespace), aHook(no, namespace)])
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const warning = '299 - "one", 299 - "a \\"quoted\\" word", 299 - "two", 299 - "three"'
  const good = await api.post(path, configMap({ name: 'good' }))
  expect({ status: good.status, warning: good.headers['warning'] }).toEqual({ status: 201, warning })
  const bad = await api.post(path, configMap({ name: 'bad' }))
  expect({ status: bad.status, warning: bad.headers['warning'] }).toEqual({ status: 400, warning })
})

test.each([
  ['the first webhook', ['one'], '', 'one'],
  ['the second webhook', ['two'], '', 'two'],
  ['both webhooks', ['one', 'two'], '', '(?:one|two)'],
  ['a plugin of the server', [], 'plugin', 'plugin'],
  ['a plugin and both webhooks', ['one', 'two'], 'plugin', 'plugin|one|two'],
] as const)('ADM-FLOW-22: %s may refuse, and the warnings of all called webhooks are returned', async (_, refusing, plugin, said) => {
  const { api } = server
  const hookNamed = (name: 'one' | 'two') =>
    aWebhookServer(
      answering(() => ({
        allowed: !(refusing as readonly string[]).includes(name),
        status: { code: 403, message: `refused by ${name}` },
        warnings: [`warned by ${name}`],
      })),
    )
  const hooks = [await hookNamed('one'), await hookNamed('two')]
  const namespace = await aNamespace(api)
  await aConfiguration(
    api,
    'validating',
    hooks.map((hook) => aHook(hook, namespace)),
  )
  const path = `/api/v1/namespaces/${namespace}`
  if (plugin !== '') {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'plugin' }, spec: { hard: { 'count/configmaps': '0' } } }
    expect((await api.post(`${path}/resourcequotas`, quota)).status).toBe(201)
  }
  const { status, body, headers } = await api.post(`${path}/configmaps`, configMap({ name: 'a' }))
  expect({ status, message: body['message'] }).toEqual({ status: 403, message: expect.stringMatching(said) })
  const asked = hooks.flatMap((hook, index) => (hook.calls.length === 0 ? [] : [`299 - "warned by ${['one', 'two'][index]}"`]))
  expect(asked).toHaveLength(2)
  expect(headers['warning']).toBe(asked.join(', '))
})

test('LIM-07, ADM-REV-26: warnings beyond the advised length are returned, and cut only beyond the bound of the header', async () => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: true, warnings: ['a'.repeat(121), 'b'.repeat(300)] })))
  const { path } = await aHookedNamespace(api, 'validating', hook)
  const few = await api.post(path, configMap({ name: 'few' }))
  expect({ status: few.status, warning: few.headers['warning'] }).toEqual({
    status: 201,
    warning: `299 - "${'a'.repeat(121)}", 299 - "${'b'.repeat(300)}"`,
  })
  hook.reply = answering(() => ({ allowed: true, warnings: Array.from({ length: 20 }, (_, index) => `${index} ${'c'.repeat(1000)}`) }))
  const many = await api.post(path, configMap({ name: 'many' }))
  expect(many.status).toBe(201)
  const texts = String(many.headers['warning']).split(/, (?=299 )/)
  expect(texts).toEqual(Array.from({ length: 16 }, (_, index) => `299 - "${`${index} ${'c'.repeat(1000)}`.slice(0, 256)}"`))
})

test('ADM-REV-25: a warning may contain any characters, is one line, and is not empty', async () => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: true, warnings: ['Grüße 😀', '', 'two\r\nX-Lines: 1'] })))
  const { path } = await aHookedNamespace(api, 'validating', hook)
  const { headers } = await api.post(path, configMap({ name: 'a' }))
  const warning = Buffer.from(String(headers['warning']), 'latin1').toString()
  expect({ warning, more: headers['x-lines'] }).toEqual({ warning: '299 - "Grüße 😀", 299 - "two  X-Lines: 1"', more: undefined })
})

test('integers beyond 2^53 reach a webhook unchanged', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['controllerrevisions'] }]
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
  const body = `{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{"name":"${aName()}"},"revision":1,"data":{"big":9007199254740993}}`
  const { status, text } = await api.post(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`, body)
  expect({ status, isKept: text.includes('9007199254740993') }).toEqual({ status: 201, isKept: true })
  expect(hook.calls[0]?.text).toContain('"big":9007199254740993')
})

test('LIM-12: integers beyond 2^53 in the patch of a webhook are kept and explained unchanged', async () => {
  const { api } = server
  const patch = '[{"op":"add","path":"/data/more","value":9007199254740993}]'
  const hook = await aWebhookServer(answering(() => ({ allowed: true, patchType: 'JSONPatch', patch: toBase64(patch) })))
  const rules = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['controllerrevisions'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const object = { kind: 'ControllerRevision', apiVersion: 'apps/v1', metadata: { name: aName() }, revision: 1, data: {} }
  const explain = { 'orch-explain': '1' }
  const { status, text, headers } = await api.post(`/apis/apps/v1/namespaces/${namespace}/controllerrevisions`, object, explain)
  expect(status).toBe(201)
  expect(text).toContain('"data":{"more":9007199254740993}')
  expect(headers['orch-explain']).toContain('"value":9007199254740993')
})

test.each([
  ['DELETE', 'mutating'],
  ['DELETE', 'validating'],
] as const)('%s with a %s webhook that would change the object is refused', async (operation, phase) => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: {} }]))
  const rules = [{ operations: [operation], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  const { path } = await aHookedNamespace(api, phase, hook, { rules })
  await created(api, path, configMap({ name: 'a' }))
  expect((await api.delete(`${path}/a`)).status).toBe(500)
  expect((await api.get(`${path}/a`)).status).toBe(200)
})

test('ADM-FLOW-02: the object after all webhooks is validated', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/data', value: { 'no key!': '' } }]))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  const { body } = await api.post(path, configMap({ name: 'a' }))
  expect(body).toMatchObject({ code: 422, reason: 'Invalid' })
})

test('an answer without a review is a failed call', async () => {
  const { api } = server
  const hook = await aWebhookServer(withBody(() => '<html>'))
  const { path } = await aHookedNamespace(api, 'validating', hook)
  expect((await api.post(path, configMap({ name: 'a' }))).body).toMatchObject({ code: 500, reason: 'InternalError' })
})
