import { createFakeClock } from '@orch/testkit'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  aNamespace,
  anApi,
  configMap,
  configMapsIn,
  created,
  failure,
  namesOfItems,
  sharedApi,
  someConfigMaps,
  until,
} from './api.ts'

const server = sharedApi({ version: '1.25' })
const withoutControllers = sharedApi({ version: '1.25', controllers: [] })

const options = (fields: Record<string, unknown>) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...fields })

const held = async (...finalizers: string[]) => {
  const path = await someConfigMaps(server.api)
  return { path, made: await created(server.api, path, configMap({ name: 'a', finalizers })) }
}

describe('an object without finalizers', () => {
  test('DEL-10, VERB-11: is deleted at once', async () => {
    const path = await someConfigMaps(server.api)
    const made = await created(server.api, path, configMap({ name: 'a' }))
    const { status, body } = await server.api.delete(`${path}/a`)
    expect(status).toBe(200)
    const details = { name: 'a', kind: 'configmaps', uid: made.metadata.uid }
    expect(body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
    expect((await server.api.delete(`${path}/a`)).body).toEqual(
      failure(404, 'NotFound', 'configmaps "a" not found', { name: 'a', kind: 'configmaps' }),
    )
  })

  test('DEL-10: has a Status that names its group', async () => {
    const namespace = await aNamespace(server.api)
    const path = `/apis/coordination.orch.io/v1/namespaces/${namespace}/leases`
    await created(server.api, path, { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata: { name: 'a' } })
    expect((await server.api.delete(`${path}/a`)).body['details']).toMatchObject({
      name: 'a',
      group: 'coordination.orch.io',
      kind: 'leases',
    })
  })

  test.each(['Pod', 'PersistentVolumeClaim', 'ServiceAccount', 'Service', 'PodTemplate'])(
    'DEL-10: of the kind %s is the answer itself',
    async (kind) => {
      const spec: Record<string, unknown> = {
        Pod: { spec: { containers: [{ name: 'c', image: 'i' }] } },
        PersistentVolumeClaim: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
        ServiceAccount: {},
        Service: { spec: { ports: [{ port: 80 }] } },
        PodTemplate: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
      }
      const path = `/api/v1/namespaces/${await aNamespace(server.api)}/${kind.toLowerCase()}s`
      const made = await created(server.api, path, { apiVersion: 'v1', kind, metadata: { name: 'a' }, ...(spec[kind] as object) })
      const { status, body } = await server.api.delete(`${path}/a`)
      expect({ status, body }).toMatchObject({ status: 200, body: { kind, metadata: { name: 'a', uid: made.metadata.uid } } })
    },
  )
})

describe('an object with finalizers', () => {
  test('DEL-01, DEL-02, DEL-04, META-16: is marked, and stays readable', async () => {
    const { path, made } = await held('example.com/one')
    const { status, body } = await server.api.delete(`${path}/a`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: 'ConfigMap',
      metadata: {
        uid: made.metadata.uid,
        deletionTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        deletionGracePeriodSeconds: 0,
        finalizers: ['example.com/one'],
      },
    })
    expect((await server.api.get(`${path}/a`)).body).toEqual(body)
    expect(namesOfItems((await server.api.get(path)).body)).toEqual(['a'])
  })

  test('DEL-02: its generation increases if the kind has one', async () => {
    const path = `/api/v1/namespaces/default/replicationcontrollers`
    const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const made = await created(server.api, path, {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: { generateName: 'held-', finalizers: ['example.com/one'] },
      spec: { template },
    })
    const { body } = await server.api.delete(`${path}/${made.metadata.name}`, options({ propagationPolicy: 'Background' }))
    expect([made.metadata.generation, body.metadata.generation]).toEqual([1, 2])
    await server.api.patch(`${path}/${made.metadata.name}`, { metadata: { finalizers: null } })
  })

  test('DEL-03: is not marked again', async () => {
    const { path } = await held('example.com/one')
    const { body: first } = await server.api.delete(`${path}/a`)
    const second = await server.api.delete(`${path}/a`)
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first)
  })

  test('DEL-05, DEL-06, DEL-07, DEL-08: is deleted with its last finalizer, removed in any order', async () => {
    const { path } = await held('example.com/one', 'example.com/two', 'example.com/three')
    await server.api.delete(`${path}/a`)
    const second = await server.api.patch(`${path}/a`, { metadata: { finalizers: ['example.com/one', 'example.com/three'] } })
    expect(second).toMatchObject({ status: 200, body: { metadata: { deletionTimestamp: expect.any(String) } } })
    await server.api.patch(`${path}/a`, { metadata: { finalizers: ['example.com/three'] } })
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
    const last = await server.api.patch(`${path}/a`, { metadata: { finalizers: [] } })
    expect(last).toMatchObject({ status: 200, body: { kind: 'ConfigMap', metadata: { name: 'a' } } })
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
  })

  test('DEL-06: may lose the last finalizer by PUT', async () => {
    const { path } = await held('example.com/one')
    const { body } = await server.api.delete(`${path}/a`)
    const { finalizers: _finalizers, ...metadata } = body.metadata
    expect((await server.api.put(`${path}/a`, { ...body, metadata })).status).toBe(200)
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
  })

  test('DEL-09: may have its finalizers reordered', async () => {
    const { path } = await held('example.com/one', 'example.com/two')
    await server.api.delete(`${path}/a`)
    const { body } = await server.api.patch(`${path}/a`, { metadata: { finalizers: ['example.com/two', 'example.com/one'] } })
    expect(body.metadata.finalizers).toEqual(['example.com/two', 'example.com/one'])
  })

  test('DEL-09: cannot get a finalizer during the deletion', async () => {
    const { path } = await held('example.com/one')
    await server.api.delete(`${path}/a`)
    const { status, body } = await server.api.patch(`${path}/a`, { metadata: { finalizers: ['example.com/one', 'example.com/x'] } })
    expect(status).toBe(422)
    expect(body['message']).toBe(
      'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/x"}',
    )
  })

  test('DEL-02: cannot lose the deletion timestamp', async () => {
    const { path } = await held('example.com/one')
    const { body: marked } = await server.api.delete(`${path}/a`)
    const { body } = await server.api.patch(`${path}/a`, { metadata: { deletionTimestamp: null, labels: { x: 'y' } } })
    expect(body.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp)
  })

  test('DEL-13, EP-27: is marked by deletecollection', async () => {
    const { path } = await held('example.com/one')
    await created(server.api, path, configMap({ name: 'b' }))
    const before = (await server.api.get(path)).body
    const { status, body } = await server.api.delete(path)
    expect({ status, body }).toEqual({ status: 200, body: before })
    const { body: list } = await server.api.get(path)
    expect(namesOfItems(list)).toEqual(['a'])
    expect(list.items[0]!.metadata.deletionTimestamp).toEqual(expect.any(String))
  })

  test('DEL-01: with orphanDependents: false is answered with a 202', async () => {
    const { path } = await held('example.com/one')
    expect((await server.api.delete(`${path}/a`, options({ orphanDependents: false }))).status).toBe(202)
  })
})

describe('delete options', () => {
  test('QP-18, QP-19, QP-20, DEL-11: may be in the body, as YAML, or in the query', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c', 'd')
    expect((await server.api.delete(`${path}/a`, options({ gracePeriodSeconds: 0 }))).status).toBe(200)
    expect((await server.api.delete(`${path}/b`, options({ apiVersion: 'meta.orch.io/v1' }))).status).toBe(200)
    const yaml = 'kind: DeleteOptions\napiVersion: v1\ngracePeriodSeconds: 0\n'
    expect((await server.api.send('DELETE', `${path}/c`, { body: yaml, headers: { 'content-type': 'application/yaml' } })).status).toBe(200)
    expect((await server.api.delete(`${path}/d?gracePeriodSeconds=5&propagationPolicy=Background`)).status).toBe(200)
    expect((await server.api.get(path)).body.items).toEqual([])
  })

  test('QP-18: with an invalid number are a 400', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.delete(`${path}/a?gracePeriodSeconds=abc`)
    expect({ status, reason: body['reason'] }).toEqual({ status: 400, reason: 'BadRequest' })
    expect(body['message']).toContain('strconv.ParseInt: parsing "abc": invalid syntax')
  })

  test.each([
    ['Orphan', 'orphan'],
    ['Foreground', 'foregroundDeletion'],
  ])('DEL-12: with %s leave the finalizer %s for the collector', async (propagationPolicy, finalizer) => {
    const { api } = withoutControllers
    const path = await someConfigMaps(api, 'a')
    const { status, body } = await api.delete(`${path}/a`, options({ propagationPolicy }))
    expect({ status, finalizers: body.metadata.finalizers }).toEqual({ status: 200, finalizers: [finalizer] })
    await api.patch(`${path}/a`, { metadata: { finalizers: null } })
    expect((await api.get(`${path}/a`)).status).toBe(404)
  })

  test('DEL-12: orphan the Pods of a Job by default, with a warning, and the answer is the Job', async () => {
    const { api } = withoutControllers
    const path = `/apis/batch/v1/namespaces/${await aNamespace(api)}/jobs`
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } }
    const deleted = async (body?: unknown, target = '') => {
      const { metadata } = await created(api, path, { metadata: { generateName: 'j-' }, spec })
      const answer = await api.delete(target === '' ? `${path}/${metadata.name}` : target, body)
      const { kind } = answer.body
      return { kind, finalizers: answer.body.metadata?.finalizers, warning: answer.headers['warning'] }
    }
    const warning =
      '299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"'
    expect(await deleted()).toEqual({ kind: 'Job', finalizers: ['orphan'], warning })
    expect(await deleted(options({ gracePeriodSeconds: 0 }))).toEqual({ kind: 'Job', finalizers: ['orphan'], warning })
    expect(await deleted(options({ propagationPolicy: 'Orphan' }))).toEqual({ kind: 'Job', finalizers: ['orphan'], warning: undefined })
    expect(await deleted(options({ propagationPolicy: 'Background' }))).toMatchObject({ kind: 'Status', warning: undefined })
    expect(await deleted(options({ orphanDependents: false }))).toMatchObject({ kind: 'Status', warning: undefined })
    expect(await deleted(undefined, path)).toEqual({ kind: 'JobList', finalizers: undefined, warning })
  })

  test('DEL-12: with an unknown policy, or with both members, are refused', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const other = await server.api.delete(`${path}/a`, options({ propagationPolicy: 'Nope' }))
    expect(other.status).toBe(422)
    expect(other.body['message']).toBe(
      'DeleteOptions.meta.orch.io "" is invalid: propagationPolicy: Unsupported value: "Nope": supported values: "Foreground", "Background", "Orphan", "nil"',
    )
    const both = await server.api.delete(`${path}/a`, options({ propagationPolicy: 'Orphan', orphanDependents: true }))
    expect(both.status).toBe(422)
    expect(both.body['message']).toContain('Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set')
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
  })

  test.each(['', 'v1', 'meta.orch.io/v1', 'apps/v1', 'batch/v1'])('DEL-12: of the version "%s" are accepted', async (apiVersion) => {
    const path = await someConfigMaps(server.api, 'a')
    const answer = await server.api.delete(`${path}/a`, options({ apiVersion, propagationPolicy: 'Foreground' }))
    expect(answer.body.metadata.finalizers).toEqual(['foregroundDeletion'])
  })

  const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

  test.each([
    [{ kind: 'Bogus', apiVersion: 'v1' }, 'no kind "Bogus" is registered for version "v1" in scheme "pkg/runtime/scheme.go:100"'],
    [{ kind: 'ConfigMap' }, 'no kind "ConfigMap" is registered for version "meta.orch.io/v1" in scheme "pkg/runtime/scheme.go:100"'],
    [[], `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ${typeMeta}`],
    ['"x"', `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ${typeMeta}`],
  ])('DEL-12: are refused if the body is something else: %j', async (body, message) => {
    const path = await someConfigMaps(server.api, 'a')
    const answer = await server.api.delete(`${path}/a`, body)
    expect([answer.status, answer.body['message']]).toEqual([400, message])
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
  })

  test('DEL-12: may be null, as options without members', async () => {
    const path = await someConfigMaps(server.api, 'a')
    expect((await server.api.delete(`${path}/a`, 'null')).status).toBe(200)
  })

  test.each(['apps/v9', 'nope/v1', 'apps'])('DEL-12: of the unserved version %s are refused', async (apiVersion) => {
    const path = await someConfigMaps(server.api, 'a')
    const answer = await server.api.delete(`${path}/a`, options({ apiVersion }))
    expect({ status: answer.status, message: answer.body['message'] }).toEqual({
      status: 400,
      message: `no kind "DeleteOptions" is registered for version "${apiVersion}"`,
    })
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
  })

  test.each(['uid', 'resourceVersion'])('DEL-10: with a precondition of %s that is no string are refused', async (field) => {
    const path = await someConfigMaps(server.api, 'a')
    const answer = await server.api.delete(`${path}/a`, options({ preconditions: { [field]: 5 } }))
    expect(answer.status).toBe(400)
    expect(answer.body['message']).toContain(`preconditions.${field}`)
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
  })

  test('DEL-10: have preconditions that are checked', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { body: live } = await server.api.get(`${path}/a`)
    const { uid, resourceVersion } = live.metadata
    const wrongUid = await server.api.delete(`${path}/a`, options({ preconditions: { uid: 'zzz' } }))
    expect(wrongUid.status).toBe(409)
    expect(wrongUid.body).toEqual(
      failure(
        409,
        'Conflict',
        `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (zzz) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
        { name: 'a', kind: 'ConfigMap' },
      ),
    )
    const wrongVersion = await server.api.delete(`${path}/a`, options({ preconditions: { resourceVersion: '1' } }))
    expect(wrongVersion.body['message']).toBe(
      `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
    expect((await server.api.delete(`${path}/a`, options({ preconditions: { uid, resourceVersion } }))).status).toBe(200)
  })

  test('DEL-10: of another kind are refused', async () => {
    const path = await someConfigMaps(server.api, 'a')
    const { status, body } = await server.api.delete(`${path}/a`, { kind: 'Foo', apiVersion: 'v1' })
    expect(status).toBe(400)
    expect(body['message']).toContain('no kind "Foo" is registered')
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
  })

  test('DEL-14: of a deletecollection include the parameters of a list', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b', 'c')
    expect((await server.api.delete(`${path}?resourceVersionMatch=Exact`)).status).toBe(422)
    expect((await server.api.delete(`${path}?limit=abc`)).status).toBe(400)
    expect((await server.api.delete(`${path}?fieldSelector=bogus`)).status).toBe(400)
    const { body: page } = await server.api.delete(`${path}?limit=1`)
    expect([namesOfItems(page), page.metadata['remainingItemCount']]).toEqual([['a'], 2])
    expect(namesOfItems((await server.api.get(path)).body)).toEqual(['b', 'c'])
    expect(namesOfItems((await server.api.delete(`${path}?continue=${page.metadata.continue}`)).body)).toEqual(['b', 'c'])
  })

  test('EP-27: of a deletecollection allow each form of a list, and the form of one object is refused before anything is deleted', async () => {
    const path = await someConfigMaps(server.api, 'a', 'b')
    const ask = (accept: string) => server.api.send('DELETE', `${path}?dryRun=All`, { headers: { accept } })
    const one = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
    expect((await server.api.send('DELETE', path, { headers: { accept: one } })).status).toBe(406)
    const table = await ask('application/json;as=Table;g=meta.orch.io;v=v1')
    expect(table.body).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['a', 0, expect.stringMatching(/^\d+s$/)] }, { object: { metadata: { name: 'b' } } }],
    })
    const metadata = await ask('application/json;as=PartialObjectMetadataList;g=meta.orch.io;v=v1')
    expect(metadata.body).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{ metadata: { name: 'a' } }, {}] })
    const protobuf = await ask('application/vnd.orch.protobuf')
    expect(protobuf.text).toContain('ConfigMapList')
    expect((await ask('application/yaml')).text).toContain('kind: ConfigMapList')
    expect(namesOfItems((await server.api.delete(path)).body)).toEqual(['a', 'b'])
    expect((await server.api.delete(path)).body.items).toEqual([])
  })
})

describe('deleted Pods', () => {
  const aPod = async (spec: Record<string, unknown> = {}) => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
    const containers = [{ name: 'c', image: 'i' }]
    await created(server.api, path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers, ...spec } })
    return `${path}/a`
  }

  test('DEL-11: wait for their node, for the grace period of the Pod or of the request', async () => {
    const target = await aPod({ nodeName: 'n' })
    const { status, body } = await server.api.delete(target)
    expect({ status, grace: body.metadata['deletionGracePeriodSeconds'] }).toEqual({ status: 200, grace: 30 })
    const marked = Date.parse(body.metadata.deletionTimestamp)
    expect(marked - Date.now()).toBeGreaterThan(20_000)
    const longer = await server.api.delete(`${target}?gracePeriodSeconds=60`)
    expect(longer.body.metadata['deletionGracePeriodSeconds']).toBe(30)
    const shorter = await server.api.delete(`${target}?gracePeriodSeconds=5`)
    expect(shorter.body.metadata['deletionGracePeriodSeconds']).toBe(5)
    expect(Date.parse(shorter.body.metadata.deletionTimestamp)).toBeLessThan(marked)
    expect((await server.api.delete(`${target}?gracePeriodSeconds=0`)).status).toBe(200)
    expect((await server.api.get(target)).status).toBe(404)
  })

  test.each<[string, number, unknown, number]>([
    ['without options', 100, undefined, 100],
    ['with a policy alone', 100, options({ propagationPolicy: 'Background' }), 100],
    ['with a longer grace', 100, options({ gracePeriodSeconds: 101 }), 100],
    ['with a shorter grace', 100, options({ gracePeriodSeconds: 40 }), 40],
    ['with a negative grace', 100, options({ gracePeriodSeconds: -1 }), 1],
    ['without options, where the first asked for less than the Pod does', 10, undefined, 10],
  ])('DEL-11: after a second deletion %s have this grace period, counted from the first', async (_name, first, second, expected) => {
    const target = await aPod({ nodeName: 'n' })
    const before = (await server.api.delete(target, options({ gracePeriodSeconds: first }))).body.metadata
    const { status, body } = await server.api.delete(target, second)
    expect({ status, grace: body.metadata['deletionGracePeriodSeconds'] }).toEqual({ status: 200, grace: expected })
    expect(Date.parse(body.metadata.deletionTimestamp)).toBe(Date.parse(before.deletionTimestamp) + (expected - first) * 1000)
    expect(body.metadata.resourceVersion === before.resourceVersion).toBe(expected === first)
  })

  test('DEL-11: that finish during the grace period stay until a deletion without one', async () => {
    const target = await aPod({ nodeName: 'n' })
    await server.api.delete(target)
    expect((await server.api.patch(`${target}/status`, { status: { phase: 'Succeeded' } })).status).toBe(200)
    expect((await server.api.delete(target)).body.metadata['deletionGracePeriodSeconds']).toBe(30)
    expect((await server.api.get(target)).status).toBe(200)
    await server.api.delete(target, options({ gracePeriodSeconds: 0 }))
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('DEL-11: without a node are removed at once', async () => {
    const target = await aPod()
    expect((await server.api.delete(target)).body.kind).toBe('Pod')
    expect((await server.api.get(target)).status).toBe(404)
  })

  test.each<[string, Record<string, unknown>, string, unknown]>([
    ['without a node', {}, '/a', undefined],
    ['without a grace period', { nodeName: 'n' }, '/a', options({ gracePeriodSeconds: 0 })],
    ['in a collection', {}, '', undefined],
    ['in the version that the request names', {}, '/a', 'resourceVersion'],
  ])('DEL-11, WATCH-21: %s are seen with their deletionTimestamp, and then removed', async (_name, spec, place, given) => {
    const target = await aPod(spec)
    const path = target.slice(0, -'/a'.length)
    const { resourceVersion, uid } = (await server.api.get(target)).body.metadata
    const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${resourceVersion}`)
    const asked = given === 'resourceVersion' ? options({ preconditions: { resourceVersion, uid } }) : given
    expect((await server.api.delete(`${path}${place}`, asked)).status).toBe(200)
    const marked = { metadata: { uid, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 } }
    expect(await watch.take(2)).toMatchObject([
      { type: 'MODIFIED', object: marked },
      { type: 'DELETED', object: marked },
    ])
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('DEL-11, WATCH-21: at the end of their grace period are seen with a period of 0, and then removed', async () => {
    const target = await aPod({ nodeName: 'n', terminationGracePeriodSeconds: 7 })
    const { resourceVersion, uid } = (await server.api.delete(target)).body.metadata
    const watch = await server.api.watch(`${target.slice(0, -'/a'.length)}?watch=1&resourceVersion=${resourceVersion}`)
    expect((await server.api.delete(target, options({ gracePeriodSeconds: 0, preconditions: { uid } }))).status).toBe(200)
    const marked = { metadata: { uid, deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 } }
    expect(await watch.take(2)).toMatchObject([
      { type: 'MODIFIED', object: marked },
      { type: 'DELETED', object: marked },
    ])
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('DEL-11: that finalizers hold are marked, stay without a grace period, and go with the last finalizer', async () => {
    const path = `/api/v1/namespaces/${await aNamespace(server.api)}/pods`
    const metadata = { name: 'a', finalizers: ['example.com/a'] }
    await created(server.api, path, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'c', image: 'i' }] } })
    expect((await server.api.delete(`${path}/a`)).body.metadata['deletionGracePeriodSeconds']).toBe(0)
    expect((await server.api.get(`${path}/a`)).status).toBe(200)
    await server.api.patch(`${path}/a`, { metadata: { finalizers: null } })
    expect((await server.api.get(`${path}/a`)).status).toBe(404)
  })

  test('DEL-11: that several clients delete at once are removed for all of them', async () => {
    const target = await aPod()
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.api.delete(target)))
    expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([])
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    expect((await server.api.get(target)).status).toBe(404)
  })

  test('DEL-11: with a negative grace period wait for one second', async () => {
    const target = await aPod({ nodeName: 'n', terminationGracePeriodSeconds: 7 })
    const { body } = await server.api.delete(target, options({ gracePeriodSeconds: -5 }))
    expect(body.metadata['deletionGracePeriodSeconds']).toBe(1)
  })
})

describe('Events', () => {
  test('WATCH-21: are deleted at their expiry, by an ordinary deletion', async () => {
    const clock = createFakeClock(Date.now())
    const api = await anApi({ version: '1.25', clock, eventTtlMs: 3_600_000 })
    const path = '/api/v1/namespaces/default/events'
    const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' }
    await created(api, path, { apiVersion: 'v1', kind: 'Event', metadata: { name: 'a' }, involvedObject })
    await created(api, configMapsIn('default'), configMap({ name: 'a' }))
    clock.advance(3_500_000)
    expect((await api.get(`${path}/a`)).status).toBe(200)
    const watch = await api.watch(`${path}?watch=1`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED' })
    // The server reads its clock at intervals.
    await until(
      () => {
        clock.advance(10_000)
        return api.get(`${path}/a`)
      },
      ({ status }) => status === 404,
    )
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } })
    expect((await api.get(`${configMapsIn('default')}/a`)).status).toBe(200)
  })
})

describe('namespaces', () => {
  const gone = (api: Api, name: string) =>
    until(
      () => api.get(`/api/v1/namespaces/${name}`),
      ({ status }) => status === 404,
    )

  test('ADDR-12: are deleted with their contents', async () => {
    const name = await aNamespace(server.api)
    await created(server.api, configMapsIn(name), configMap({ name: 'a' }))
    const { status, body } = await server.api.delete(`/api/v1/namespaces/${name}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      kind: 'Namespace',
      metadata: { name, deletionTimestamp: expect.any(String) },
      spec: { finalizers: ['orch'] },
      status: { phase: 'Terminating' },
    })
    await gone(server.api, name)
    expect((await server.api.get(`${configMapsIn(name)}/a`)).status).toBe(404)
    expect((await server.api.post(configMapsIn(name), configMap({ name: 'b' }))).status).toBe(404)
    await created(server.api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    expect((await server.api.get(configMapsIn(name))).body.items).toEqual([])
  })

  test('ADDR-12: have no remaining contents, even if others create objects during the deletion', async () => {
    const name = await aNamespace(server.api)
    const codes = new Set<number>()
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let at = 0; ; at++) {
        const { status } = await server.api.post(configMapsIn(name), configMap({ name: `m-${writer}-${at}` }))
        codes.add(status)
        if (status === 404) return
      }
    })
    await until(
      () => server.api.get(configMapsIn(name)),
      ({ body }) => body.items.length > 20,
    )
    await server.api.delete(`/api/v1/namespaces/${name}`)
    await Promise.all(writers)
    await gone(server.api, name)
    expect((await server.api.get(configMapsIn(name))).body.items).toEqual([])
    expect([...codes].filter((code) => ![201, 403, 404].includes(code))).toEqual([])
  })

  test('ADDR-12: wait for contents with finalizers', async () => {
    const name = await aNamespace(server.api)
    await created(server.api, configMapsIn(name), configMap({ name: 'a', finalizers: ['example.com/one'] }))
    await server.api.delete(`/api/v1/namespaces/${name}`)
    await until(
      () => server.api.get(`${configMapsIn(name)}/a`),
      ({ body }) => body.metadata.deletionTimestamp !== undefined,
    )
    expect((await server.api.get(`/api/v1/namespaces/${name}`)).body).toMatchObject({ status: { phase: 'Terminating' } })
    await server.api.patch(`${configMapsIn(name)}/a`, { metadata: { finalizers: null } })
    await gone(server.api, name)
  })

  test('ADDR-12: that exist from the start cannot be deleted', async () => {
    for (const name of ['default', 'orch-system', 'orch-public']) {
      const { status, body } = await server.api.delete(`/api/v1/namespaces/${name}`)
      expect({ status, reason: body['reason'] }).toEqual({ status: 403, reason: 'Forbidden' })
      expect(body['message']).toBe(`namespaces "${name}" is forbidden: this namespace may not be deleted`)
    }
  })

  test('ADDR-12: have a subresource for their finalizers', async () => {
    const name = await aNamespace(server.api)
    const target = `/api/v1/namespaces/${name}`
    const { body } = await server.api.get(target)
    const kept = await server.api.put(target, { ...body, spec: { finalizers: [] } })
    expect(kept.body['spec']).toEqual({ finalizers: ['orch'] })
    const changed = await server.api.put(`${target}/finalize`, { ...kept.body, spec: { finalizers: ['orch', 'example.com/mine'] } })
    expect(changed.body['spec']).toEqual({ finalizers: ['orch', 'example.com/mine'] })
    await server.api.put(`${target}/finalize`, { ...changed.body, spec: { finalizers: ['orch'] } })
  })
})
