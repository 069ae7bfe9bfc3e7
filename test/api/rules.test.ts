import { expect, test } from 'vitest'
import { type Answer, aNamespace, created, sharedApi } from './api.ts'

const server = sharedApi()

const message = ({ body }: Answer) => body['message']

test('all errors of an object are reported at once, each with its field and reason', async () => {
  const namespace = await aNamespace(server.api)
  const { status, body } = await server.api.post(`/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: 'a' },
    spec: { ports: [{ port: 0 }], externalIPs: ['127.0.0.1'] },
  })
  expect(status).toBe(422)
  expect(body['details']).toMatchObject({
    kind: 'Service',
    causes: [
      { reason: 'FieldValueInvalid', field: 'spec.ports[0].port', message: 'Invalid value: 0: must be between 1 and 65535, inclusive' },
      { reason: 'FieldValueInvalid', field: 'spec.ports[0].targetPort' },
      { reason: 'FieldValueInvalid', field: 'spec.externalIPs[0]' },
    ],
  })
})

test('an immutable ConfigMap is immutable for every kind of write', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/configmaps`
  await created(server.api, path, { metadata: { name: 'a' }, data: { a: '1' }, immutable: true })
  const refusal = 'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set'
  expect(message(await server.api.patch(`${path}/a`, { data: { a: '2' } }))).toBe(refusal)
  expect(message(await server.api.put(`${path}/a`, { metadata: { name: 'a' }, data: { a: '2' }, immutable: true }))).toBe(refusal)
  expect((await server.api.patch(`${path}/a`, { metadata: { labels: { a: 'b' } } })).status).toBe(200)
})

test('a Secret has the keys that its type requires', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/secrets`
  expect(message(await server.api.post(path, { metadata: { name: 'a' }, type: 'orch.io/tls', stringData: { 'tls.crt': 'c' } }))).toBe(
    'Secret "a" is invalid: data[tls.key]: Required value',
  )
  expect((await server.api.post(path, { metadata: { name: 'a' }, type: 'kubernetes.io/tls' })).status).toBe(201)
})

test('a Service may change its type and change it back', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
  const balanced = { type: 'LoadBalancer', ports: [{ port: 80 }] }
  const made = await created(server.api, path, { metadata: { name: 'a' }, spec: balanced })
  expect(made['spec']).toMatchObject({ externalTrafficPolicy: 'Cluster', allocateLoadBalancerNodePorts: true })
  const inside = await server.api.put(`${path}/a`, { ...made, spec: { ...(made['spec'] as object), type: 'ClusterIP' } })
  expect(inside.status).toBe(200)
  expect(Object.keys(inside.body['spec'] as object)).not.toContain('externalTrafficPolicy')
  expect((inside.body['spec'] as { ports: object[] }).ports[0]).not.toHaveProperty('nodePort')
  const outside = await server.api.patch(`${path}/a`, { spec: { type: 'ExternalName', externalName: 'a.example.com' } })
  expect(outside.status).toBe(200)
  expect(outside.body['spec']).not.toHaveProperty('clusterIP')
  expect((await server.api.patch(`${path}/a`, { spec: { type: 'ClusterIP', externalName: null } })).body['spec']).toHaveProperty(
    'clusterIP',
  )
})

test('a bound claim may grow, and the rest of its spec is immutable', async () => {
  const path = `/api/v1/namespaces/${await aNamespace(server.api)}/persistentvolumeclaims`
  const growing = { metadata: { generateName: 'growing-' }, provisioner: 'p', allowVolumeExpansion: true }
  const { metadata } = await created(server.api, '/apis/storage.orch.io/v1/storageclasses', growing)
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: metadata.name, resources: { requests: { storage: '1Gi' } } }
  await created(server.api, path, { metadata: { name: 'a' }, spec })
  const size = (storage: string) => ({ spec: { resources: { requests: { storage } } } })
  expect(message(await server.api.patch(`${path}/a`, size('2Gi')))).toContain('spec: Forbidden: spec is immutable after creation')
  expect((await server.api.patch(`${path}/a/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } })).status).toBe(200)
  expect((await server.api.patch(`${path}/a`, size('2Gi'))).status).toBe(200)
  expect(message(await server.api.patch(`${path}/a`, size('1Gi')))).toContain('field can not be less than status.capacity')
})

test('the roleRef of a binding is immutable', async () => {
  const path = '/apis/rbac.authorization.orch.io/v1/clusterrolebindings'
  const { metadata } = await created(server.api, path, {
    metadata: { generateName: 'b-' },
    roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'u' }],
  })
  expect(message(await server.api.patch(`${path}/${metadata.name}`, { roleRef: { name: 'edit' } }))).toContain('field is immutable')
})
