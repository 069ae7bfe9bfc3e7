import { expect, test } from 'vitest'
import { aName, aNamespace, created, sharedApi } from './api.ts'
import { sampleFields, sampleName } from './sample-objects.ts'

// No controller writes to the objects meanwhile.
const server = sharedApi({ controllers: ['bootstrap'] })

const all = ['annotations', 'finalizers', 'labels', 'ownerReferences']
/** The metadata that a write of the status does not change; kinds without an entry have none. */
const kept: Readonly<Record<string, readonly string[]>> = {
  APIService: all,
  CSINode: all,
  Deployment: ['labels'],
  DeviceTaintRule: all,
  FlowSchema: all,
  Pod: ['ownerReferences'],
  PodCertificateRequest: all,
  PriorityLevelConfiguration: all,
  ResourceClaim: all,
  ServiceCIDR: all,
  StorageVersionMigration: all,
  ValidatingAdmissionPolicy: all,
  VolumeAttachment: all,
}

interface Resource {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

/** Every version of every resource with a status subresource. */
async function withStatus(): Promise<(Resource & { apiVersion: string; root: string })[]> {
  const { groups } = (await server.api.get('/apis')).body as unknown as { groups: { versions: { groupVersion: string }[] }[] }
  const versions = ['v1', ...groups.flatMap((group) => group.versions.map(({ groupVersion }) => groupVersion))]
  const lists = await Promise.all(
    versions.map(async (apiVersion) => {
      const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
      const resources = (await server.api.get(root)).body['resources'] as Resource[]
      const names = new Set(resources.map(({ name }) => name))
      return resources.filter(({ name }) => names.has(`${name}/status`)).map((resource) => ({ ...resource, apiVersion, root }))
    }),
  )
  return lists.flat()
}

test('SSA-66: a write of a status includes its metadata, except for fields that the kind keeps, and excludes the spec', async () => {
  const namespace = await aNamespace(server.api)
  const resources = await withStatus()
  const found: Record<string, readonly string[]> = {}
  for (const { name: plural, kind, namespaced, apiVersion, root } of resources) {
    const base = `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`
    const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace })
    const name = sampleName(kind) ?? aName('s')
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1f0d3c3e-0000-4000-8000-000000000000' }
    const before = { labels: { a: '1' }, annotations: { 'example.com/a': '1' }, finalizers: ['example.com/a'] }
    const made = await created(server.api, base, { apiVersion, kind, metadata: { name, ...before }, ...fields })
    const after = { labels: { a: '2' }, annotations: { 'example.com/a': '2' }, finalizers: ['example.com/b'], ownerReferences: [owner] }
    const { status, text, body } = await server.api.put(`${base}/${name}/status`, { ...made, metadata: { ...made.metadata, ...after } })
    expect({ kind, status, text: status === 200 ? '' : text }).toEqual({ kind, status: 200, text: '' })
    expect(body['spec']).toEqual(made['spec'])
    expect(body.metadata.generation).toBe(made.metadata.generation)
    // A Namespace also has a label that the server sets, and a DaemonSet an annotation.
    const { 'orch.io/metadata.name': _name, ...labels } = body.metadata.labels
    const { 'deprecated.daemonset.template.generation': _count, ...annotations } = body.metadata['annotations'] as Record<string, string>
    const got: Record<string, unknown> = { ...body.metadata, labels, annotations }
    const untaken = Object.entries(after).filter(([field, value]) => JSON.stringify(got[field]) !== JSON.stringify(value))
    found[kind] = untaken.map(([field]) => field).sort()
    await server.api.patch(`${base}/${name}`, { metadata: { finalizers: null } })
    await server.api.delete(`${base}/${name}?gracePeriodSeconds=0`)
  }
  const kinds = Object.keys(found).filter((kind) => (found[kind] ?? []).length > 0)
  expect(Object.fromEntries(kinds.map((kind) => [kind, found[kind]]))).toEqual(kept)
  expect(Object.keys(found).length).toBeGreaterThan(20)
})

test('SSA-66: a deletion time in the body of a status is ignored by kinds that keep theirs, and refused by others', async () => {
  const namespace = await aNamespace(server.api)
  const metadata = { deletionTimestamp: '2026-05-03T02:01:00Z' }
  const answerOf = async (root: string, plural: string, kind: string, part = 'status') => {
    const apiVersion = root === '/api/v1' ? 'v1' : root.slice('/apis/'.length)
    const base = `${root}${kind.startsWith('FlowSchema') || kind === 'APIService' ? '' : `/namespaces/${namespace}`}/${plural}`
    const fields = sampleFields(kind, apiVersion, { domain: 'orch.io', namespace })
    const name = sampleName(kind) ?? aName('d')
    await server.api.post(base, { apiVersion, kind, metadata: { name }, ...fields })
    const { status, body } = await server.api.patch(`${base}/${name}/${part}`, { metadata })
    const { causes } = (body['details'] ?? {}) as { causes?: { field: string }[] }
    return [status, body.metadata['deletionTimestamp'] ?? causes?.map(({ field }) => field)]
  }
  expect(await answerOf('/api/v1', 'pods', 'Pod')).toEqual([200, undefined])
  expect(await answerOf('/api/v1', 'pods', 'Pod', 'ephemeralcontainers')).toEqual([200, undefined])
  expect(await answerOf('/api/v1', 'pods', 'Pod', 'resize')).toEqual([200, undefined])
  expect(await answerOf('/apis/flowcontrol.apiserver.orch.io/v1', 'flowschemas', 'FlowSchema')).toEqual([200, undefined])
  expect(await answerOf('/apis/apps/v1', 'deployments', 'Deployment')).toEqual([422, ['metadata.deletionTimestamp']])
  expect(await answerOf('/apis/apiregistration.orch.io/v1', 'apiservices', 'APIService')).toEqual([422, ['metadata.deletionTimestamp']])
})

test('SSA-66: a writer of a status owns its changes of the metadata, but not the fields that the kind keeps', async () => {
  const namespace = await aNamespace(server.api)
  const fieldsOf = async (plural: string, kind: string) => {
    const base = `/apis/apps/v1/namespaces/${namespace}/${plural}`
    const fields = sampleFields(kind, 'apps/v1', { domain: 'orch.io', namespace })
    await created(server.api, base, { apiVersion: 'apps/v1', kind, metadata: { name: 'w' }, ...fields })
    const patch = { metadata: { labels: { a: '1' }, annotations: { b: '2' } }, status: { observedGeneration: 1 } }
    const { body } = await server.api.patch(`${base}/w/status?fieldManager=m`, patch)
    const entries = body.metadata['managedFields'] as { manager: string; fieldsV1: Record<string, unknown> }[]
    return entries.find(({ manager }) => manager === 'm')?.fieldsV1
  }
  const status = { 'f:observedGeneration': {} }
  const annotations = { '.': {}, 'f:b': {} }
  expect(await fieldsOf('statefulsets', 'StatefulSet')).toEqual({
    'f:metadata': { 'f:annotations': annotations, 'f:labels': { '.': {}, 'f:a': {} } },
    'f:status': status,
  })
  expect(await fieldsOf('deployments', 'Deployment')).toEqual({ 'f:metadata': { 'f:annotations': annotations }, 'f:status': status })
})

test('a write of a status that removes the last finalizer of an object under deletion deletes the object', async () => {
  const base = `/api/v1/namespaces/${await aNamespace(server.api)}/services`
  const fields = sampleFields('Service', 'v1', { domain: 'orch.io', namespace: '' })
  await created(server.api, base, { metadata: { name: 's', finalizers: ['example.com/a'] }, ...fields })
  await server.api.delete(`${base}/s`)
  const { status } = await server.api.patch(`${base}/s/status`, { metadata: { finalizers: null } })
  expect({ status, after: (await server.api.get(`${base}/s`)).status }).toEqual({ status: 200, after: 404 })
})
