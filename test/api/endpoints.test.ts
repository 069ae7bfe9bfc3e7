import { describe, expect, test } from 'vitest'
import { aName, aNamespace, anApi, created, failure, namesOfItems, sharedApi, until } from './api.ts'

// No controller writes to quotas.
const server = sharedApi({ version: '1.25', controllers: ['namespace', 'bootstrap', 'garbage-collector'] })

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }

interface Kind {
  kind: string
  apiVersion: string
  plural: string
  isNamespaced: boolean
  hasStatus: boolean
  deleteAnswer: 'object' | 'Status'
  spec: Record<string, unknown>
  /** A change of spec that the kind allows. */
  change: Record<string, unknown>
  status: Record<string, unknown>
}

const kinds: readonly Kind[] = [
  {
    kind: 'CSINode',
    apiVersion: 'storage.orch.io/v1',
    plural: 'csinodes',
    isNamespaced: false,
    hasStatus: false,
    deleteAnswer: 'object',
    spec: { drivers: [] },
    change: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['k'] }] },
    status: {},
  },
  {
    kind: 'VolumeAttachment',
    apiVersion: 'storage.orch.io/v1',
    plural: 'volumeattachments',
    isNamespaced: false,
    hasStatus: true,
    deleteAnswer: 'object',
    spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
    change: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
    status: { attached: true },
  },
  {
    kind: 'Node',
    apiVersion: 'v1',
    plural: 'nodes',
    isNamespaced: false,
    hasStatus: true,
    deleteAnswer: 'Status',
    spec: {},
    change: { unschedulable: true },
    status: { volumesInUse: ['v'] },
  },
  {
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    plural: 'resourcequotas',
    isNamespaced: true,
    hasStatus: true,
    deleteAnswer: 'object',
    spec: { hard: { pods: '1' } },
    change: { hard: { pods: '2' } },
    status: { hard: { pods: '1' } },
  },
  {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    plural: 'replicationcontrollers',
    isNamespaced: true,
    hasStatus: true,
    deleteAnswer: 'Status',
    spec: { replicas: 1, template },
    change: { replicas: 2, template },
    status: { replicas: 3 },
  },
]

/** The path of a kind's collection; for a namespaced kind in a new namespace. */
async function collectionOf({ apiVersion, plural, isNamespaced }: Kind): Promise<string> {
  const base = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return isNamespaced ? `${base}/namespaces/${await aNamespace(server.api)}/${plural}` : `${base}/${plural}`
}

const objectOf = ({ apiVersion, kind, spec }: Kind, name = aName('x'), labels?: Record<string, string>) => ({
  apiVersion,
  kind,
  metadata: { name, ...(labels === undefined ? {} : { labels }) },
  spec,
})

const collectionIds: Record<string, string> = {
  CSINode: 'EP-01',
  VolumeAttachment: 'EP-03',
  Node: 'EP-05',
  ResourceQuota: 'EP-07',
  ReplicationController: 'EP-09',
}
const statusIds: Record<string, string> = {
  VolumeAttachment: 'EP-04',
  Node: 'EP-06',
  ResourceQuota: 'EP-08',
  ReplicationController: 'EP-10',
}
const deleteIds: Record<Kind['deleteAnswer'], string> = { object: 'EP-24', Status: 'EP-25' }

describe.each(kinds.map((kind) => ({ ...kind, toString: () => kind.kind })))('$kind', (kind) => {
  const id = collectionIds[kind.kind]!

  test(`${id}, EP-13, EP-15, EP-17: create, get, list, update and patch work`, async () => {
    const path = await collectionOf(kind)
    const name = aName('x')
    const parameters = 'fieldManager=me&fieldValidation=Strict&pretty=false'
    const made = await server.api.post(`${path}?${parameters}`, objectOf(kind, name))
    expect(made).toMatchObject({ status: 201, body: { kind: kind.kind, apiVersion: kind.apiVersion, metadata: { name } } })
    const got = await server.api.get(`${path}/${name}?pretty=true`)
    expect(got).toMatchObject({ status: 200, body: made.body })
    const list = await server.api.get(
      `${path}?limit=500&fieldSelector=metadata.name%3D${name}&labelSelector=&timeoutSeconds=5&allowWatchBookmarks=true`,
    )
    expect(list).toMatchObject({ status: 200, body: { kind: `${kind.kind}List` } })
    expect(namesOfItems(list.body)).toEqual([name])
    const put = await server.api.put(`${path}/${name}?${parameters}`, {
      ...got.body,
      spec: { ...(got.body['spec'] as object), ...kind.change },
    })
    expect(put).toMatchObject({ status: 200, body: { kind: kind.kind, spec: kind.change } })
    const patched = await server.api.patch(`${path}/${name}?${parameters}`, { metadata: { labels: { x: 'y' } } })
    expect(patched).toMatchObject({ status: 200, body: { metadata: { labels: { x: 'y' } } } })
  })

  test('EP-23: delete accepts its options in the query or the body', async () => {
    const path = await collectionOf(kind)
    for (const body of [undefined, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' }]) {
      const { metadata } = await created(server.api, path, objectOf(kind))
      const { status } = await server.api.delete(
        `${path}/${metadata.name}?gracePeriodSeconds=0&propagationPolicy=Background&pretty=false`,
        body,
      )
      expect(status).toBe(200)
      expect((await server.api.get(`${path}/${metadata.name}`)).status).toBe(404)
    }
  })

  test(`${deleteIds[kind.deleteAnswer]}: delete answers with ${kind.deleteAnswer === 'object' ? 'the object' : 'a Status'}`, async () => {
    const path = await collectionOf(kind)
    const made = await created(server.api, path, objectOf(kind))
    const { status, body } = await server.api.delete(`${path}/${made.metadata.name}`)
    expect(status).toBe(200)
    if (kind.deleteAnswer === 'object') expect(body).toEqual(made)
    else {
      const details = { name: made.metadata.name, kind: kind.plural, uid: made.metadata.uid }
      expect(body).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
    }
  })

  test('EP-26, EP-27, VERB-12, QP-11: deletecollection deletes the selected objects, and answers the list of them', async () => {
    const path = await collectionOf(kind)
    const group = aName('group')
    const names = [aName('x'), aName('x'), aName('x')]
    for (const name of names) await created(server.api, path, objectOf(kind, name, { group }))
    const all = `labelSelector=group%3D${group}`
    const one = await server.api.delete(`${path}?${all}&fieldSelector=metadata.name%3D${names[0]}&timeoutSeconds=5&gracePeriodSeconds=0`)
    expect(one).toMatchObject({ status: 200, body: { items: [{ metadata: { name: names[0] } }] } })
    // Objects of some kinds wait until the garbage collector has released their dependants.
    const left = (count: number) =>
      until(
        () => server.api.get(`${path}?${all}`),
        ({ body }) => body.items.length === count,
      )
    expect(namesOfItems((await left(2)).body)).toEqual(names.slice(1))
    expect((await server.api.delete(`${path}?${all}&dryRun=All`)).status).toBe(200)
    expect(namesOfItems((await server.api.get(`${path}?${all}`)).body)).toEqual(names.slice(1))
    expect((await server.api.delete(`${path}?${all}`)).status).toBe(200)
    expect((await left(0)).body.items).toEqual([])
    expect((await server.api.delete(`${path}?${all}`)).status).toBe(200)
  })

  test('EP-29: watch works', async () => {
    const path = await collectionOf(kind)
    const { metadata } = await created(server.api, path, objectOf(kind))
    const watch = await server.api.watch(`${path}?watch=true&fieldSelector=metadata.name%3D${metadata.name}`)
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { kind: kind.kind, metadata: { name: metadata.name } } })
  })

  test('EP-28, ERR-04: every operation answers 401 to an unknown token', async () => {
    const path = await collectionOf(kind)
    const stranger = server.api.as({})
    const unauthorized = failure(401, 'Unauthorized', 'Unauthorized')
    const body = objectOf(kind)
    const operations: [string, string][] = [
      ['GET', path],
      ['POST', path],
      ['DELETE', path],
      ['GET', `${path}/a`],
      ['PUT', `${path}/a`],
      ['PATCH', `${path}/a`],
      ['DELETE', `${path}/a`],
      ['GET', `${path}/a/status`],
      ['PUT', `${path}/a/status`],
      ['PATCH', `${path}/a/status`],
      ['GET', `${path}?watch=1`],
    ]
    for (const [method, target] of operations) {
      expect((await stranger(method, target, { body, headers: { authorization: 'Bearer nobody' } })).body).toEqual(unauthorized)
    }
  })

  test('EP-35: POST, PUT and PATCH without a body are refused', async () => {
    const path = await collectionOf(kind)
    const { metadata } = await created(server.api, path, objectOf(kind))
    const item = `${path}/${metadata.name}`
    const headers = { 'content-type': 'application/merge-patch+json' }
    expect((await server.api.send('POST', path)).status).toBe(400)
    expect((await server.api.send('PUT', item)).status).toBe(400)
    expect((await server.api.send('PATCH', item, { headers })).status).toBe(400)
  })

  if (kind.hasStatus) {
    test(`${statusIds[kind.kind]}, EP-14, EP-20, EP-22: status is read and written on its own path`, async () => {
      const path = await collectionOf(kind)
      const made = await created(server.api, path, objectOf(kind))
      const target = `${path}/${made.metadata.name}/status`
      expect((await server.api.get(target)).body).toEqual(made)
      const put = await server.api.put(target, { ...made, spec: kind.change, status: kind.status })
      expect(put).toMatchObject({ status: 200, body: { kind: kind.kind, status: kind.status } })
      expect(put.body['spec']).toEqual(made['spec'])
      const patched = await server.api.patch(target, { spec: kind.change, status: kind.status })
      expect(patched.body).toEqual(put.body)
      expect((await server.api.get(`${path}/${made.metadata.name}`)).body).toEqual(put.body)
    })

    test('EP-20: a status path accepts labels, except for a VolumeAttachment, and refuses an old version', async () => {
      const path = await collectionOf(kind)
      const made = await created(server.api, path, objectOf(kind))
      const target = `${path}/${made.metadata.name}/status`
      const { body } = await server.api.patch(target, { metadata: { labels: { x: 'y' } }, status: kind.status })
      expect(body.metadata.labels?.['x']).toBe(kind.kind === 'VolumeAttachment' ? undefined : 'y')
      expect(await server.api.put(target, { ...made, status: kind.status })).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
      expect((await server.api.put(`${path}/none/status`, { ...made, metadata: { name: 'none' } })).status).toBe(404)
    })

    test('EP-34: a status path has GET, PUT and PATCH only', async () => {
      const path = await collectionOf(kind)
      const made = await created(server.api, path, objectOf(kind))
      for (const method of ['POST', 'DELETE']) {
        expect((await server.api.send(method, `${path}/${made.metadata.name}/status`, { body: made })).status).toBe(405)
      }
    })
  } else {
    test('EP-02, EP-30: a kind without status has no status path', async () => {
      const path = await collectionOf(kind)
      const made = await created(server.api, path, objectOf(kind))
      for (const method of ['GET', 'PUT', 'PATCH']) {
        expect((await server.api.send(method, `${path}/${made.metadata.name}/status`, { body: made })).status).toBe(404)
      }
    })
  }

  if (kind.isNamespaced) {
    const allId = kind.kind === 'ResourceQuota' ? 'EP-11' : 'EP-12'

    test(`${allId}, EP-16: a list covers all namespaces`, async () => {
      const [first, second] = [await collectionOf(kind), await collectionOf(kind)]
      const group = aName('group')
      for (const path of [first, second]) await created(server.api, path, objectOf(kind, 'same', { group }))
      const { status, body } = await server.api.get(`/api/v1/${kind.plural}?labelSelector=group%3D${group}`)
      expect({ status, kind: body.kind }).toEqual({ status: 200, kind: `${kind.kind}List` })
      expect(body.items.map(({ metadata }) => metadata.namespace).sort()).toEqual([first, second].map((path) => path.split('/')[4]).sort())
    })

    test('EP-33: a path across namespaces has list and watch only', async () => {
      for (const method of ['POST', 'DELETE', 'PUT', 'PATCH']) {
        expect((await server.api.send(method, `/api/v1/${kind.plural}`, { body: objectOf(kind) })).status).toBe(405)
      }
      expect((await server.api.get(`/api/v1/${kind.plural}/same`)).status).toBe(404)
    })
  } else {
    test('EP-32: a cluster-scoped kind has no path in a namespace', async () => {
      const base = kind.apiVersion === 'v1' ? '/api/v1' : `/apis/${kind.apiVersion}`
      expect((await server.api.get(`${base}/namespaces/default/${kind.plural}`)).status).toBe(404)
    })
  }
})

describe('other paths', () => {
  test.each([
    '/api/v1/namespaces//configmaps',
    '/api/v1/namespaces//configmaps/a',
    '/api/v1/namespaces/default//configmaps',
    '/api/v1/namespaces/default/configmaps//',
    '/api/v1/namespaces/default/configmaps/%2F',
    '/api/v1//nodes',
    '/api/v1/nodes//status',
  ])('EP-32: %s is a 404', async (target) => {
    const { status } = await server.api.get(target)
    expect(status).toBe(404)
  })

  test('EP-31, METRIC-13: metrics are served', async () => {
    await server.api.get('/api/v1/nodes')
    const { status, headers, text } = await server.api.get('/metrics')
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: expect.stringMatching(/^text\/plain; version=0\.0\.4/) })
    const line = text
      .split('\n')
      .find((one) => one.startsWith('apiserver_request_total{') && one.includes('resource="nodes"') && one.includes('verb="LIST"'))
    expect(line).toMatch(/code="200"/)
    expect(text).toContain('# TYPE apiserver_request_total counter')
    expect(text).toMatch(/^orch_build_info\{major="1",minor="25",git_version="v1\.25\.[^"]+",.*\} 1$/m)
  })

  test('METRIC-14: every metric has a stability', async () => {
    const { text } = await server.api.get('/metrics')
    // The names of the runtime metrics come from the library.
    const helps = text.split('\n').filter((line) => /^# HELP (?!process_|nodejs_)/.test(line))
    expect(helps.length).toBeGreaterThan(20)
    expect(helps.filter((line) => !/^# HELP \S+ \[(ALPHA|BETA|STABLE)\] /.test(line))).toEqual([])
  })

  test('METRIC-15, METRIC-16: a deprecated metric is exposed, with its deprecation', async () => {
    const { text } = await server.api.get('/metrics')
    expect(text).toContain('# HELP apiserver_longrunning_gauge [ALPHA] (Deprecated from 1.23) Watches')
    expect(text).toMatch(/^apiserver_longrunning_gauge\{verb="WATCH"\} \d+$/m)
  })

  test('METRIC-17, METRIC-18, FLAG-26: a metric that was deprecated three releases ago is hidden unless requested', async () => {
    expect((await server.api.get('/metrics')).text).not.toContain('apiserver_registered_watchers')
    const asked = await anApi({ version: '1.25', flags: ['--show-hidden-metrics-for-version=1.24'] })
    expect((await asked.get('/metrics')).text).toMatch(
      /^# HELP apiserver_registered_watchers \[ALPHA\] \(Deprecated from 1\.22\) .*\n# TYPE \S+ gauge\napiserver_registered_watchers \d+$/m,
    )
  })
})
