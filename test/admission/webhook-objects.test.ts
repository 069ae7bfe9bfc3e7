import { expect, test } from 'vitest'
import { aName, anApi, configMap, created, sharedApi, until } from '../api/api.ts'
import { aConfiguration, aHook, aHookedNamespace } from './hooks.ts'
import { allowing, answering, aWebhookServer, patching } from './webhook-server.ts'

const server = sharedApi({ flags: ['--controllers=*,-root-ca-cert-publisher'] })

test('ADM-REV-06, ADM-WH-29, ADM-WH-32: a subresource is named, and has the namespace of its parent', async () => {
  const { api } = server
  const hook = await aWebhookServer(allowing)
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['replicationcontrollers/*'], scope: 'Namespaced' }]
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await created(api, path, { kind: 'ReplicationController', apiVersion: 'v1', metadata: { name: 'a' }, spec: { replicas: 0, template } })
  const { status } = await api.patch(`${path}/a/scale`, { spec: { replicas: 2 } })
  expect(status).toBe(200)
  expect(hook.calls.at(-1)?.request).toMatchObject({
    operation: 'UPDATE',
    subResource: 'scale',
    requestSubResource: 'scale',
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    resource: { group: '', version: 'v1', resource: 'replicationcontrollers' },
    object: { kind: 'Scale', spec: { replicas: 2 } },
  })
})

test('ADM-REV-10, ADM-REV-13, ADM-REV-14: a proxied request is a CONNECT without options and old object', async () => {
  const { api } = server
  const hook = await aWebhookServer(answering(() => ({ allowed: false, status: { message: 'keep out' } })))
  const rules = [{ operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['services/proxy'] }]
  const { namespace } = await aHookedNamespace(api, 'validating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}/services`
  await created(api, path, { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  const answer = await api.get(`${path}/s/proxy/a/b`)
  expect(answer.body['message']).toContain('denied the request: keep out')
  expect(hook.calls[0]?.request).toMatchObject({
    operation: 'CONNECT',
    name: 's',
    namespace,
    subResource: 'proxy',
    kind: { group: '', version: 'v1', kind: 'ServiceProxyOptions' },
    object: { kind: 'ServiceProxyOptions', path: '/a/b' },
    oldObject: null,
    options: null,
  })
})

test('a patch is defaulted and pruned like any write', async () => {
  const { api } = server
  const hook = await aWebhookServer(
    patching(() => [
      { op: 'replace', path: '/template/spec/containers', value: [{ name: 'c', image: 'i:1', zzz: 1 }] },
      { op: 'add', path: '/template/spec/unknown', value: 1 },
    ]),
  )
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['podtemplates'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const template = { spec: { containers: [{ name: 'x', image: 'y' }] } }
  const podTemplate = { kind: 'PodTemplate', apiVersion: 'v1', metadata: { name: 'p' }, template }
  const made = await created(api, `/api/v1/namespaces/${namespace}/podtemplates`, podTemplate)
  const { containers, ...spec } = (made['template'] as { spec: { containers: object[] } }).spec
  expect(spec).not.toHaveProperty('unknown')
  expect(containers).toMatchObject([
    { name: 'c', image: 'i:1', imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log' },
  ])
  expect(containers[0]).not.toHaveProperty('zzz')
})

test('server-set members are unchanged in a create and an update', async () => {
  const { api } = server
  const hook = await aWebhookServer(
    patching(({ request }) => [
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/metadata/creationTimestamp', value: '2001-01-01T00:00:00Z' },
      { op: 'add', path: '/metadata/generation', value: 77 },
      { op: 'add', path: '/metadata/resourceVersion', value: '1' },
      { op: 'add', path: '/metadata/managedFields', value: [] },
      { op: 'add', path: '/status', value: { availableReplicas: 5, replicas: 5 } },
      { op: 'add', path: '/metadata/labels', value: { seen: request.operation } },
    ]),
  )
  const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['replicationcontrollers'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { a: 'b' }, template }
  const made = await created(api, path, { kind: 'ReplicationController', apiVersion: 'v1', metadata: { name: 'a' }, spec })
  expect(made).toMatchObject({ metadata: { generation: 1, labels: { seen: 'CREATE' } }, status: { replicas: 0 } })
  expect(made.metadata.uid).not.toBe('mine')
  expect(made.metadata.creationTimestamp).not.toContain('2001')
  expect(made.metadata['managedFields']).toHaveLength(1)
  const { body } = await api.patch(`${path}/a`, { spec: { replicas: 2 } })
  const { uid, creationTimestamp } = made.metadata
  const metadata = { uid, creationTimestamp, generation: 2, labels: { seen: 'UPDATE' } }
  expect(body).toMatchObject({ metadata, spec: { replicas: 2 }, status: { replicas: 0 } })
})

test('a webhook for a status changes only the status', async () => {
  const { api } = server
  const hook = await aWebhookServer(
    patching(() => [
      { op: 'add', path: '/spec/replicas', value: 9 },
      { op: 'add', path: '/status/observedGeneration', value: 7 },
    ]),
  )
  const rules = [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['replicationcontrollers/status'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}/replicationcontrollers`
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { a: 'b' }, template }
  await created(api, path, { kind: 'ReplicationController', apiVersion: 'v1', metadata: { name: 'a' }, spec })
  const { body } = await api.patch(`${path}/a/status`, { status: { replicas: 1 } })
  expect(body).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 1, observedGeneration: 7 } })
})

test('changes by a webhook outside a subresource are not validated', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'replace', path: '/spec/hostNetwork', value: false }]))
  const rules = [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/ephemeralcontainers'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}/pods`
  const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'i' }] }
  await created(api, path, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p' }, spec })
  await api.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: { 'pod-security.orch.io/enforce': 'baseline' } } })
  // Until admission has received the label, it checks the values twice.
  await until(
    () => api.post(`${path}?dryRun=All`, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'q' }, spec }),
    (answer) => answer.status === 403,
  )
  const { status, text } = await api.patch(`${path}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } })
  expect([status, hook.calls.length]).toEqual([403, 1])
  expect(text).toContain('host namespaces (hostNetwork=true)')
})

test('changes by a webhook to server-set members are not validated', async () => {
  // This webhook is called at every update of a claim, after the others.
  const api = await anApi({ flags: ['--disable-admission-plugins=PersistentVolumeClaimResize'] })
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/metadata/deletionTimestamp', value: '2001-01-01T00:00:00Z' }]))
  const rules = [{ operations: ['UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['persistentvolumeclaims'] }]
  const { namespace } = await aHookedNamespace(api, 'mutating', hook, { rules })
  const path = `/api/v1/namespaces/${namespace}`
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } }
  await created(api, `${path}/persistentvolumeclaims`, { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'c' }, spec })
  const limits = [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }]
  await created(api, `${path}/limitranges`, { kind: 'LimitRange', apiVersion: 'v1', metadata: { name: 'r' }, spec: { limits } })
  const { status, text } = await api.patch(`${path}/persistentvolumeclaims/c`, { metadata: { annotations: { a: 'b' } } })
  expect([status, hook.calls.length]).toEqual([403, 1])
  expect(text).toContain('maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi')
})

test('a Namespace that a webhook has changed still has all its defaults', async () => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }]))
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] }]
  await aConfiguration(api, 'mutating', [aHook(hook, undefined, { rules, objectSelector: { matchLabels: { mine: 'yes' } } })])
  const name = aName('ns')
  const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name, labels: { mine: 'yes' } } }
  const made = await created(api, '/api/v1/namespaces', namespace)
  expect(made).toMatchObject({ metadata: { labels: { seen: 'yes' } }, spec: { finalizers: ['orch'] }, status: { phase: 'Active' } })
})

test.each([
  ['create', 400, 'the namespace of the provided object does not match the namespace sent on the request'],
  ['update', 400, 'the namespace of the provided object does not match the namespace sent on the request'],
])('an object is moved to no other namespace: %s', async (verb, code, text) => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [{ op: 'replace', path: '/metadata/namespace', value: 'elsewhere' }]))
  const objectSelector = { matchLabels: { moved: 'yes' } }
  const { path } = await aHookedNamespace(api, 'mutating', hook, { objectSelector })
  if (verb === 'update') await created(api, path, configMap({ name: 'a' }))
  const object = configMap({ name: 'a', labels: { moved: 'yes' } })
  const { body } = verb === 'create' ? await api.post(path, object) : await api.put(`${path}/a`, object)
  expect(body['code']).toBe(code)
  expect(body['message']).toContain(text)
})

test('MACH-WRITE-07: the uid, managedFields and unknown fields that a webhook sets are dropped', async () => {
  const { api } = server
  const hook = await aWebhookServer(
    patching(() => [
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/metadata/managedFields', value: [] },
      { op: 'add', path: '/unknown', value: 1 },
    ]),
  )
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  const made = await created(api, path, configMap({ name: 'a' }))
  expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
  expect(made.metadata).not.toHaveProperty('managedFields')
  expect(made).not.toHaveProperty('unknown')
})

test.each([
  ['another kind', { op: 'replace', path: '/kind', value: 'Secret' }],
  ['a value of a wrong type', { op: 'add', path: '/data', value: 1 }],
])('MACH-WRITE-07: %s from a webhook is an error', async (_what, operation) => {
  const { api } = server
  const hook = await aWebhookServer(patching(() => [operation]))
  const { path } = await aHookedNamespace(api, 'mutating', hook)
  expect((await api.post(path, configMap({ name: 'a' }))).status).toBe(500)
})
