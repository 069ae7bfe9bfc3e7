import { createCatalogue } from '@orch/core/catalogue'
import type { ApiObject, ManagedFieldsEntry } from '@orch/core/meta'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { authorityPem } from '../api/certificate-request.ts'
import { sampleFields } from '../api/sample-objects.ts'
import { aGateway, merge } from './own-gateway.ts'

const time = '2026-05-03T02:01:00Z'

/** A gateway with a stopped clock, and the field owners after a request. */
async function anOwningGateway(level?: number) {
  const catalogue = createCatalogue('orch', level === undefined ? {} : { minor: level })
  const { call, send } = await aGateway(undefined, { catalogue, clock: createFakeClock(Date.parse(time)) })
  const ask = async (method: string, path: string, body?: unknown, type?: string) => {
    const { code, body: answered } = await call(method, path, body, type)
    return { code, object: answered as unknown as ApiObject }
  }
  const entriesAt = async (path: string): Promise<readonly ManagedFieldsEntry[]> => {
    const { object } = await ask('GET', path)
    return object.metadata.managedFields ?? []
  }
  const ownersAt = async (path: string) =>
    Object.fromEntries(
      (await entriesAt(path)).map(({ manager, subresource = 'main', fieldsV1 }) => [`${manager} ${subresource}`, fieldsV1]),
    )
  return { ask, send, entriesAt, ownersAt }
}

const pods = '/api/v1/namespaces/default/pods'
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const labels = { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } }

test('SSA-17: conditions of a certificate request are owned by who approves, its certificate by who signs, its spec by no manager', async () => {
  const { ask, ownersAt } = await anOwningGateway()
  const collection = '/apis/certificates.orch.io/v1/certificatesigningrequests'
  const [kind, apiVersion] = ['CertificateSigningRequest', 'certificates.orch.io/v1']
  const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace: '' })
  const made = await ask('POST', `${collection}?fieldManager=maker`, {
    kind,
    apiVersion,
    metadata: { name: 'r', labels: { a: 'b' } },
    ...fields,
  })
  expect(made.code).toBe(201)
  expect(await ownersAt(`${collection}/r`)).toEqual({ 'maker main': labels })
  const approved = { type: 'Approved', status: 'True', reason: 'r', message: 'm' }
  const approval = { ...made.object, status: { conditions: [approved] } }
  expect((await ask('PUT', `${collection}/r/approval?fieldManager=approver`, approval)).code).toBe(200)
  const byApprover = { 'f:status': { 'f:conditions': { 'k:{"type":"Approved"}': {} } } }
  expect(await ownersAt(`${collection}/r`)).toMatchObject({ 'maker main': labels, 'approver approval': byApprover })
  const failed = { status: { conditions: [approved, { type: 'Failed', status: 'True', reason: 'r', message: 'm' }] } }
  expect((await ask('PATCH', `${collection}/r/status?fieldManager=signer`, failed, merge)).code).toBe(200)
  expect(Object.keys(await ownersAt(`${collection}/r`))).toEqual(['approver approval', 'maker main'])
  const issued = { status: { certificate: Buffer.from(authorityPem).toString('base64') } }
  expect((await ask('PATCH', `${collection}/r/status?fieldManager=signer`, issued, merge)).code).toBe(200)
  expect(await ownersAt(`${collection}/r`)).toMatchObject({ 'signer status': { 'f:status': { 'f:certificate': {} } } })
})

test('SSA-17: ephemeral containers and the node of a Pod have no owner', async () => {
  const { ask, entriesAt } = await anOwningGateway()
  await ask('POST', `${pods}?fieldManager=maker`, pod)
  const before = await entriesAt(`${pods}/p`)
  const debug = { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }
  expect((await ask('PATCH', `${pods}/p/ephemeralcontainers?fieldManager=m`, debug, merge)).code).toBe(200)
  expect(await entriesAt(`${pods}/p`)).toEqual(before)
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  expect((await ask('POST', `${pods}/p/binding?fieldManager=m`, binding)).code).toBe(201)
  expect((await ask('GET', `${pods}/p`)).object).toMatchObject({ spec: { nodeName: 'n', ephemeralContainers: [{ name: 'd' }] } })
  const after = await entriesAt(`${pods}/p`)
  expect(after.map(({ manager, subresource }) => [manager, subresource])).toEqual(before.map(({ manager }) => [manager, undefined]))
  expect(after).toEqual(before)
})

test.each([
  [31, []],
  [32, ['debugger']],
])('SSA-17: at 1.%d the ephemeral containers of a Pod have the owners %j', async (level, owners) => {
  const { ask, entriesAt } = await anOwningGateway(level)
  await ask('POST', `${pods}?fieldManager=maker`, pod)
  const debug = { metadata: { labels: { a: 'b' } }, spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } }
  expect((await ask('PATCH', `${pods}/p/ephemeralcontainers?fieldManager=debugger`, debug, merge)).code).toBe(200)
  const entries = (await entriesAt(`${pods}/p`)).filter(({ subresource }) => subresource === 'ephemeralcontainers')
  expect(entries.map(({ manager }) => manager)).toEqual(owners)
  for (const { fieldsV1 } of entries) expect(fieldsV1).toMatchObject({ 'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"d"}': {} } } })
})

test('SSA-66: a writer of a status owns nothing of the spec, and a writer of the spec nothing of the status', async () => {
  const { ask, ownersAt } = await anOwningGateway()
  const { object } = await ask('POST', `${pods}?fieldManager=maker`, { ...pod, status: { reason: 'mine' } })
  expect(Object.keys((await ownersAt(`${pods}/p`))['maker main'] ?? {})).toEqual(['f:spec'])
  const status = { ...object, spec: { ...(object['spec'] as object), schedulerName: 'other' }, status: { reason: 'theirs' } }
  expect((await ask('PUT', `${pods}/p/status?fieldManager=node`, status)).code).toBe(200)
  expect((await ownersAt(`${pods}/p`))['node status']).toEqual({ 'f:status': { 'f:reason': {} } })
})

test('SSA-66: an apply of an object owns nothing of its status, and an apply of a status nothing of the spec or of kept fields', async () => {
  const { ask, ownersAt } = await anOwningGateway()
  const apply = 'application/apply-patch+yaml'
  const [apiVersion, root] = ['apps/v1', '/apis/apps/v1/namespaces/default']
  const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: pod.spec } }
  const applied = async (plural: string, kind: string, part: string) => {
    const head = { apiVersion, kind, metadata: { name: 'd', labels: { a: 'b' }, annotations: { c: 'd' } } }
    if (part === '') await ask('PATCH', `${root}/${plural}/d?fieldManager=m`, { ...head, spec, status: { replicas: 1 } }, apply)
    else await ask('PATCH', `${root}/${plural}/d/${part}?fieldManager=n`, { ...head, spec, status: { replicas: 1 } }, apply)
    return (await ownersAt(`${root}/${plural}/d`))[part === '' ? 'm main' : 'n status']
  }
  for (const [plural, kind] of [
    ['statefulsets', 'StatefulSet'],
    ['deployments', 'Deployment'],
  ] as const) {
    expect(Object.keys((await applied(plural, kind, '')) ?? {}).sort()).toEqual(['f:metadata', 'f:spec'])
    const annotations = { 'f:annotations': { 'f:c': {} } }
    expect(await applied(plural, kind, 'status')).toEqual({
      'f:metadata': kind === 'Deployment' ? annotations : { ...annotations, 'f:labels': { 'f:a': {} } },
      'f:status': { 'f:replicas': {} },
    })
  }
})

test('SSA-66: the finalizers in the spec of a Namespace are owned by who sends them, though only the finalize subresource changes them', async () => {
  const { ask, ownersAt } = await anOwningGateway()
  const [path, owned] = ['/api/v1/namespaces/n', { 'f:spec': { 'f:finalizers': {} } }]
  const namespace = (finalizer: string) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'n' },
    spec: { finalizers: [finalizer] },
  })
  const made = await ask('POST', '/api/v1/namespaces?fieldManager=maker', namespace('example.com/a'))
  expect(await ownersAt(path)).toMatchObject({ 'maker main': owned })
  const updated = await ask('PUT', `${path}?fieldManager=updater`, namespace('example.com/b'))
  expect(updated.object['spec']).toEqual(made.object['spec'])
  expect((await ownersAt(path))['updater main']).toEqual(owned)
  await ask('PATCH', `${path}?fieldManager=applier&force=true`, namespace('example.com/b'), 'application/apply-patch+yaml')
  expect(Object.keys(await ownersAt(path))).toEqual(['applier main', 'maker main'])
  const finalized = await ask('PUT', `${path}/finalize?fieldManager=finalizer`, namespace('example.com/z'))
  expect(finalized.object['spec']).toEqual({ finalizers: ['example.com/z'] })
  expect(await ownersAt(path)).toMatchObject({ 'finalizer finalize': owned })
  expect(await ownersAt(path)).not.toHaveProperty('applier main')
})

test('SSA-66: fields written through a Scale are owned with that subresource, without a time', async () => {
  const { ask, entriesAt } = await anOwningGateway()
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const template = { metadata: { labels: { a: 'b' } }, spec: pod.spec }
  const spec = { selector: { matchLabels: { a: 'b' } }, template }
  await ask('POST', `${deployments}?fieldManager=maker`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec })
  expect((await ask('PATCH', `${deployments}/d/scale?fieldManager=scaler`, { spec: { replicas: 3 } }, merge)).code).toBe(200)
  const [main, scale] = ['maker', 'scaler'].map(async (name) =>
    (await entriesAt(`${deployments}/d`)).find(({ manager }) => manager === name),
  )
  expect(await main).toMatchObject({ time })
  expect(await scale).toEqual({
    manager: 'scaler',
    operation: 'Update',
    apiVersion: 'apps/v1',
    subresource: 'scale',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  })
})

test('SSA-17: a writer without a manager name is named after its user agent', async () => {
  const { send, entriesAt } = await anOwningGateway()
  const headers = { 'content-type': 'application/json', 'user-agent': 'tool/v1.2 (linux)' }
  for (const [name, query] of [
    ['p', ''],
    ['q', '?fieldManager=named'],
  ]) {
    const body = JSON.stringify({ ...pod, metadata: { name } })
    for await (const _chunk of (await send({ method: 'POST', path: `${pods}${query}`, headers, body })).body);
  }
  expect([(await entriesAt(`${pods}/p`))[0]?.manager, (await entriesAt(`${pods}/q`))[0]?.manager]).toEqual(['tool', 'named'])
})

test('SSA-17: an object without owned fields has no managedFields', async () => {
  const { ask } = await anOwningGateway()
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }
  const { object } = await ask('POST', '/api/v1/namespaces/default/serviceaccounts', account)
  expect(object.metadata).not.toHaveProperty('managedFields')
})

test('an object that is too large only with its owners is stored without them by a create, an update and a patch, but not by an apply', async () => {
  const { ask, entriesAt } = await anOwningGateway()
  const collection = '/api/v1/namespaces/default/configmaps'
  const key = 'a-key-that-is-long-enough-to-make-a-very-large-set-of-the-fields-that-a-manager-owns'
  const data = Object.fromEntries(Array.from({ length: 9_999 }, (_, index) => [`${key}-${index}`, 'A']))
  const named = (name: string, fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...fields })
  expect((await ask('POST', collection, named('created', { data }))).code).toBe(201)
  expect(await entriesAt(`${collection}/created`)).toEqual([])
  for (const [name, method, type] of [
    ['updated', 'PUT'],
    ['patched', 'PATCH', merge],
  ] as const) {
    expect((await ask('POST', collection, named(name, { data: { a: 'b' } }))).code).toBe(201)
    expect((await ask(method, `${collection}/${name}`, named(name, { data }), type)).code).toBe(200)
    expect(await entriesAt(`${collection}/${name}`)).toEqual([])
  }
  const applied = await ask('PATCH', `${collection}/created?fieldManager=m`, named('created', {}), 'application/apply-patch+yaml')
  expect(applied).toMatchObject({ code: 500, object: { message: 'etcdserver: request is too large' } })
})
