import { jsonToCbor } from '@orch/core/cbor'
import type { ApiObject } from '@orch/core/meta'
import { printProtobuf } from '@orch/core/protobuf'
import { type RunningServer, start } from 'orch'
import { beforeAll, expect, test } from 'vitest'
import { openPage } from './page.ts'

/** The records that the pages of the console show: requests with their details, open watches, and the report of admission. */
let server: RunningServer

beforeAll(async () => {
  server = await start({ console: true, control: true, profile: 'kubernetes', featureGates: ['CBORServingAndStorage=true'] })
  return () => server.stop()
})

const aMap = (name: string, data: Record<string, string> = {}): ApiObject => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }
  return map
}
const ask = <T>(path: string, client = server.client) => client.request<T>({ method: 'GET', path: `/orch/v1${path}` })

interface Shown {
  readonly auditId: string
  readonly method: string
  readonly query: string
  readonly traceparent?: string
  readonly body?: {
    readonly contentType: string
    readonly bytes: number
    readonly isKept: boolean
    readonly text?: string
    readonly hidden?: string
  }
  readonly explanation?: { readonly authorization: { readonly reason: string }; readonly admission: readonly { readonly plugin: string }[] }
}

const idOf = (name: string) => server.requests({ user: 'operator' }).findLast((request) => request.name === name)?.id ?? 0

test('a logged request has its query, its trace, its decisions, and on request its body', async () => {
  const { transport } = server.user('operator').client
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const body = JSON.stringify(aMap('traced', { key: 'word' }))
  const headers = { 'content-type': 'application/json; charset=utf-8', traceparent }
  const sent = await transport.send({ method: 'POST', path: '/api/v1/namespaces/default/configmaps?fieldManager=x', headers, body })
  for await (const _ of sent.body);
  const shown = await ask<Shown>(`/requests/${idOf('traced')}`)
  expect(shown).toMatchObject({ verb: 'create', code: 201, method: 'POST', query: 'fieldManager=x' })
  expect(shown.auditId).toBe(sent.headers['audit-id'])
  expect(shown.traceparent).toContain('0af7651916cd43dd8448eb211c80319c')
  expect(shown.explanation?.authorization.reason).toContain('RBAC: allowed by')
  expect(shown.explanation?.admission.length).toBeGreaterThan(0)
  expect(shown.body).toEqual({ contentType: 'application/json', bytes: body.length, isKept: true })
  expect((await ask<Shown>(`/requests/${idOf('traced')}?body=true`)).body?.text).toBe(body)
})

test('a body in Protobuf or CBOR is shown with its object, and an invalid body without an object', async () => {
  const { transport } = server.user('operator').client
  const protobuf = 'application/vnd.kubernetes.protobuf'
  const sendBody = async (path: string, contentType: string, body: Uint8Array) => {
    const sent = await transport.send({ method: 'POST', path, headers: { 'content-type': contentType }, body })
    for await (const _ of sent.body);
    const { id = 0 } = server.requests({ user: 'operator', verb: 'create' }).at(-1) ?? {}
    return (await ask<{ readonly body: { readonly json?: string; readonly base64?: string } }>(`/requests/${id}?body=true`)).body
  }
  const maps = '/api/v1/namespaces/default/configmaps'
  const bytes = printProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', type: 'core/v1.ConfigMap', object: aMap('packed', { key: 'word' }) })
  const shown = await sendBody(maps, protobuf, bytes)
  expect(shown.base64).toBe(Buffer.from(bytes).toString('base64'))
  expect(JSON.parse(shown.json ?? '')).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'packed' }, data: { key: 'word' } })
  const cbor = jsonToCbor(Buffer.from(JSON.stringify(aMap('packed-too', { key: 'word' }))))
  expect(JSON.parse((await sendBody(maps, 'application/cbor', cbor)).json ?? '')).toMatchObject({ data: { key: 'word' } })
  expect(await sendBody(maps, protobuf, bytes.subarray(0, 40))).not.toHaveProperty('json')
  expect(await sendBody(maps, protobuf, Buffer.from('text'))).toMatchObject({ base64: 'dGV4dA==' })
})

test('the body of a request is hidden from users who may not get its object', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'default' }, stringData: { word: 'hunter2' } }
  await server.user('operator').client.objects.create<ApiObject>(secret)
  const reader = server.user('reader', { rules: [{ nonResourceURLs: ['/orch/v1/requests/*'], verbs: ['get'] }] })
  const id = idOf('key')
  expect(JSON.stringify(await ask(`/requests/${id}`))).not.toContain('hunter2')
  const shown = await ask<Shown>(`/requests/${id}?body=true`, reader.client)
  expect(shown.body).toMatchObject({ isKept: true, hidden: 'you may not get the object' })
  expect(JSON.stringify(shown)).not.toContain('hunter2')
  expect(shown.explanation).toBeUndefined()
  expect((await ask<Shown>(`/requests/${id}?body=true`)).body?.text).toContain('hunter2')
  const nobody = server.user('nobody', { rules: [] })
  await expect(ask(`/requests/${id}`, nobody.client)).rejects.toMatchObject({ code: 403 })
})

const explainHeader = 'kube-explain'

test('changes of plugins to a Secret hide values unless the body is requested, and changes of policies are counted', async () => {
  const value = Buffer.from('hunter2').toString('base64')
  const group = 'admissionregistration.k8s.io/v1'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }
  const expression = 'Object{stringData: {"added": "hunter2"}}'
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
  const spec = { matchConstraints: { resourceRules: [rule] }, mutations, reinvocationPolicy: 'Never' }
  await server.client.objects.create<ApiObject>({
    ...{ apiVersion: group, kind: 'MutatingAdmissionPolicy', metadata: { name: 'adds' }, spec },
  })
  const binding = { kind: 'MutatingAdmissionPolicyBinding', metadata: { name: 'everywhere' }, spec: { policyName: 'adds' } }
  await server.client.objects.create<ApiObject>({ apiVersion: group, ...binding })
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { generateName: 'changed-', namespace: 'default' } }
  const { transport } = server.user('operator').client
  const create = async () => {
    const headers = { 'content-type': 'application/json', [explainHeader]: '1' }
    const sent = await transport.send({ method: 'POST', path: '/api/v1/namespaces/default/secrets', headers, body: JSON.stringify(secret) })
    let text = ''
    for await (const bytes of sent.body) text += Buffer.from(bytes).toString()
    return { text, sent }
  }
  await expect.poll(async () => (await create()).text, { timeout: 60_000 }).toContain('"added"')
  const { id = 0 } = server.requests({ user: 'operator', verb: 'create' }).findLast(({ resource }) => resource === 'secrets') ?? {}
  const hidden = JSON.stringify(await ask(`/requests/${id}`))
  expect(hidden).toContain('MutatingAdmissionPolicy')
  expect(hidden).not.toContain(value)
  expect(JSON.stringify(await ask(`/requests/${id}?body=true`))).toContain(value)
  const { ask: askAsPage } = await openPage(await server.console())
  const path = '/console/api/api/v1/namespaces/default/secrets?dryRun=All'
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
  const dry = await askAsPage(path, { method: 'POST', headers: { accept, [explainHeader]: '1' }, body: secret })
  expect([dry.status, JSON.stringify(dry)]).toEqual([201, expect.not.stringContaining(value)])
  expect(String(dry.headers[explainHeader])).toContain('"patch"')
  const { policies } = await ask<{ readonly policies: readonly object[] }>('/admission')
  expect(policies).toContainEqual(expect.objectContaining({ name: 'adds', binding: 'everywhere', action: 'mutate', error: '' }))
})

test.each([
  ['/requests/0', 404],
  ['/requests/999999999999999', 404],
  ['/requests/x', 400],
  ['/requests/1?body=yes', 400],
  ['/requests/1?text=true', 400],
])('%s is answered %i', async (path, code) => {
  await expect(ask(path)).rejects.toMatchObject({ code })
})

test('open watches are listed with their client, and a delayed watch with its last sent revision', async () => {
  const { transport } = server.user('operator').client
  const ending = new AbortController()
  const path = '/api/v1/namespaces/default/configmaps?watch=1'
  await transport.send({ method: 'GET', path, headers: { 'user-agent': 'manager/v1' }, signal: ending.signal })
  interface Listed {
    readonly revision: number
    readonly items: readonly { readonly user: string; readonly agent: string; readonly revision: number; readonly isHeld: boolean }[]
  }
  const watchOf = async () => {
    const { revision, items } = await ask<Listed>('/watches')
    return { revision, watch: items.find(({ user }) => user === 'operator') }
  }
  expect((await watchOf()).watch).toMatchObject({ agent: 'manager/v1', isHeld: false, unreadBytes: 0, path: path.split('?')[0] })
  const hold = server.user('operator').watches.hold()
  const { metadata } = await server.client.objects.create(aMap('held'))
  const { revision, watch } = await watchOf()
  expect([watch?.isHeld, revision]).toEqual([true, Number(metadata.resourceVersion)])
  expect(watch?.revision).toBeLessThan(revision)
  hold.release()
  await expect.poll(async () => (await watchOf()).watch?.revision).toBe(revision)
  ending.abort()
})

test('the admission page counts calls and refusals of plugins, policies and webhooks, with a separate permission', async () => {
  const group = 'admissionregistration.k8s.io/v1'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  const validations = [{ expression: "!has(object.data) || !('bad' in object.data)", message: 'no bad' }]
  const spec = { matchConstraints: { resourceRules: [rule] }, validations }
  const policy = { apiVersion: group, kind: 'ValidatingAdmissionPolicy', metadata: { name: 'no-bad' }, spec }
  const binding = { kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: 'no-bad', validationActions: ['Deny'] } }
  await server.client.objects.create<ApiObject>(policy)
  await server.client.objects.create<ApiObject>({ apiVersion: group, metadata: { name: 'everywhere' }, ...binding })
  await expect
    .poll(async () => server.client.objects.create(aMap('bad', { bad: '1' })).catch((error) => error.message), { timeout: 60_000 })
    .toContain('no bad')
  interface Account {
    readonly plugins: readonly { readonly name: string; readonly phase: string; readonly calls: number; readonly refused: number }[]
    readonly policies: readonly { readonly name: string; readonly calls: number }[]
  }
  const account = await ask<Account>('/admission')
  const plugin = account.plugins.find(({ name, phase }) => name === 'ValidatingAdmissionPolicy' && phase === 'validate')
  expect(plugin?.refused).toBeGreaterThan(0)
  expect(account.policies).toContainEqual(expect.objectContaining({ name: 'no-bad', binding: 'everywhere', action: 'deny', error: '' }))
  const reader = server.user('auditor', { rules: [{ nonResourceURLs: ['/orch/v1/admission'], verbs: ['get'] }] })
  await expect(ask('/admission', reader.client)).resolves.toMatchObject({ kind: 'Admission' })
  await expect(ask('/admission', server.user('stranger', { rules: [] }).client)).rejects.toMatchObject({ code: 403 })
})

interface ObjectCounts {
  readonly items: readonly {
    readonly group: string
    readonly resource: string
    readonly revision?: string
    readonly count?: number
    readonly namespaces?: Readonly<Record<string, number>>
    readonly problem?: string
  }[]
}

test('one answer counts the objects of each kind by namespace, also at a past revision or behind a slash, by the rights of its reader', async () => {
  const countsOf = async (path: string, client = server.client) => {
    const { items } = await client.request<ObjectCounts>({ method: 'GET', path })
    return new Map(items.map((item) => [item.resource, item]))
  }
  const create = (namespace: string, name: string): Promise<ApiObject> =>
    server.client.objects.create<ApiObject>({ ...aMap(name, { key: 'word' }), metadata: { name, namespace } })
  for (const name of ['counted', 'counted-0'])
    await server.client.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const name of ['a', 'b']) await create('counted', name)
  const { metadata } = await create('counted-0', 'a')
  await create('counted-0', 'later')
  const counts = await countsOf('/orch/v1/objects')
  const { count, namespaces = {} } = counts.get('configmaps') ?? {}
  expect([namespaces['counted'], namespaces['counted-0']]).toEqual([2, 2])
  expect(Object.values(namespaces).reduce((sum, one) => sum + one, 0)).toBe(count)
  expect(counts.get('namespaces')).toEqual({ group: '', resource: 'namespaces', revision: expect.any(String), count: expect.any(Number) })
  expect(counts.has('subjectaccessreviews')).toBe(false)
  const past = (await countsOf(`/at/${metadata.resourceVersion}/orch/v1/objects`)).get('configmaps')
  expect([past?.revision, past?.namespaces?.['counted'], past?.namespaces?.['counted-0']]).toEqual([metadata.resourceVersion, 2, 1])
  expect((await countsOf('/orch/v1/objects/')).has('configmaps')).toBe(true)
  const inside = await countsOf('/orch/v1/objects?namespace=counted')
  expect(inside.get('configmaps')).toEqual({ group: '', resource: 'configmaps', revision: expect.any(String), count: 2 })
  expect(inside.has('namespaces')).toBe(false)
  const rules = [
    { nonResourceURLs: ['/orch/v1/objects'], verbs: ['get'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
  ]
  const own = await countsOf('/orch/v1/objects', server.user('counter', { rules }).client)
  expect([own.get('configmaps')?.count, own.get('secrets')]).toEqual([count, { group: '', resource: 'secrets', problem: 'forbidden' }])
  await expect(countsOf('/orch/v1/objects', server.user('passer-by', { rules: [] }).client)).rejects.toMatchObject({ code: 403 })
})
