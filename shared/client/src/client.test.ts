import { createCatalogue } from '@orch/core/catalogue'
import { aggregatedDocument, apiResourceListDocument } from '@orch/core/discovery'
import { type ApiObject, expired, type StatusError, serviceUnavailable } from '@orch/core/meta'
import { describe, expect, test } from 'vitest'
import { createClient, undiscoveredMessage } from './client.ts'
import { type InformerEvent, startInformer } from './informer.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const aMap = (name: string, resourceVersion: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a', resourceVersion },
})

async function* bytesOf(...texts: string[]) {
  for (const text of texts) yield new TextEncoder().encode(text)
}

const answer = (status: number, body: unknown): TransportResponse => ({ status, headers: {}, body: bytesOf(JSON.stringify(body)) })
const gone = () => answer(410, expired('too old resource version').status)
const aList = (resourceVersion: string, items: ApiObject[], token?: string) =>
  answer(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion, continue: token }, items })
const aWatch = (...events: unknown[]): TransportResponse => ({
  status: 200,
  headers: {},
  body: bytesOf(events.map((event) => `${JSON.stringify(event)}\n`).join('')),
})

/** A server that gives scripted answers, one per request, and then hangs until the request is aborted. */
function scripted(...answers: (TransportResponse | Error)[]) {
  const requests: TransportRequest[] = []
  const transport: Transport = {
    send(request) {
      requests.push(request)
      const next = answers.shift()
      if (next instanceof Error) return Promise.reject(next)
      if (next !== undefined) return Promise.resolve(next)
      return new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    },
    close() {},
  }
  return { client: createClient(transport), requests, lines: () => requests.map(({ method, path }) => `${method} ${path}`) }
}

describe('a collection', () => {
  test('every verb is sent to its path with its parameters', async () => {
    const { client, lines, requests } = scripted(...Array.from({ length: 7 }, () => answer(200, {})))
    const maps = client.resource(configMaps)
    await maps.get('x', { namespace: 'a', resourceVersion: '0' })
    await maps.list({ labelSelector: 'a in (b,c)', limit: 5 })
    await maps.create(aMap('x', ''), { dryRun: true, fieldValidation: 'Strict' })
    await maps.update(aMap('x', ''), { subresource: 'status' })
    await maps.patch('x', { data: {} }, { namespace: 'a', type: 'merge' })
    await maps.delete('x', { namespace: 'a' }, { propagationPolicy: 'Background' })
    await maps.deleteCollection({ namespace: 'a', labelSelector: 'k=v' })
    expect(lines()).toEqual([
      'GET /api/v1/namespaces/a/configmaps/x?resourceVersion=0',
      'GET /api/v1/configmaps?labelSelector=a%20in%20(b%2Cc)&limit=5',
      'POST /api/v1/namespaces/a/configmaps?dryRun=All&fieldValidation=Strict',
      'PUT /api/v1/namespaces/a/configmaps/x/status',
      'PATCH /api/v1/namespaces/a/configmaps/x',
      'DELETE /api/v1/namespaces/a/configmaps/x',
      'DELETE /api/v1/namespaces/a/configmaps?labelSelector=k%3Dv',
    ])
    expect(requests[4]!.headers['content-type']).toBe('application/merge-patch+json')
    expect(requests[5]!.body).toBe('{"propagationPolicy":"Background"}')
  })

  test('an unanswered write sends the same request, whose answer is read to its end and not parsed; a refusal is thrown', async () => {
    let readToEnd = 0
    async function* noJson() {
      yield* bytesOf('no ', 'JSON')
      readToEnd++
    }
    const written = () => ({ status: 200, headers: {}, body: noJson() })
    const { client, lines } = scripted(written(), written(), written(), written(), gone())
    const { unanswered } = client.resource(configMaps)
    await unanswered.create(aMap('x', ''), { fieldManager: 'm' })
    await unanswered.update(aMap('x', ''), { subresource: 'status' })
    await unanswered.patch('x', {}, { namespace: 'a', type: 'merge', fieldManager: 'm' })
    await unanswered.delete('x', { namespace: 'a' })
    expect(readToEnd).toBe(4)
    await expect(unanswered.update(aMap('x', ''))).rejects.toMatchObject({ code: 410 })
    expect(lines()).toEqual([
      'POST /api/v1/namespaces/a/configmaps?fieldManager=m',
      'PUT /api/v1/namespaces/a/configmaps/x/status',
      'PATCH /api/v1/namespaces/a/configmaps/x?fieldManager=m',
      'DELETE /api/v1/namespaces/a/configmaps/x',
      'PUT /api/v1/namespaces/a/configmaps/x',
    ])
  })

  test('an answer whose bytes are all present is not read piece by piece', async () => {
    const present = (body: unknown): TransportResponse => ({ ...answer(200, 'unread'), whole: Buffer.from(JSON.stringify(body)) })
    const { client } = scripted(present(aMap('x', '5')), present(aMap('x', '6')))
    const maps = client.resource(configMaps)
    expect(await maps.get('x', { namespace: 'a' })).toEqual(aMap('x', '5'))
    expect(await maps.unanswered.update(aMap('x', ''))).toBeUndefined()
  })

  test('items of a list without a kind get the kind of the list', async () => {
    const { kind: _kind, apiVersion: _apiVersion, ...untyped } = aMap('x', '5')
    const { client } = scripted(answer(200, { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [untyped, aMap('y', '5')] }))
    expect((await client.resource(configMaps).list()).items).toEqual([aMap('x', '5'), aMap('y', '5')])
  })

  test('a list or discovery without entries may be null', async () => {
    const nothing = { metadata: { resourceVersion: '5' }, items: null }
    const { client } = scripted(answer(200, nothing), answer(200, nothing), answer(200, { resources: null }))
    const maps = client.resource(configMaps)
    expect([(await maps.list()).items, (await maps.listAll()).items]).toEqual([[], []])
    expect(await client.discover('', 'v1')).toEqual([])
  })

  test('a whole collection is read in pages of the requested size, and a callback reduces each page', async () => {
    const pages = [aList('7', [aMap('x', '3')], 'next'), aList('7', [aMap('y', '4')])]
    const { client, lines } = scripted(...pages)
    const keep = ({ metadata, ...rest }: ApiObject): ApiObject => ({ ...rest, metadata: { name: `kept ${metadata.name}` } })
    const { items } = await client.resource(configMaps).listAll({ pageSize: 1, keep })
    expect(items.map(({ metadata }) => metadata)).toEqual([{ name: 'kept x' }, { name: 'kept y' }])
    expect(lines()).toEqual(['GET /api/v1/configmaps?limit=1', 'GET /api/v1/configmaps?limit=1&continue=next'])
  })

  test('a failure throws the Status that the server sent', async () => {
    const { client } = scripted(gone())
    const failure = await client
      .resource(configMaps)
      .list()
      .catch((error: StatusError) => error)
    expect(failure).toMatchObject({ reason: 'Expired', code: 410 })
  })

  test('a failure without a Status has its code and text', async () => {
    const busy = { status: 429, headers: { 'retry-after': '1' }, body: bytesOf('Too many requests\n') }
    const { client } = scripted(busy)
    await expect(client.resource(configMaps).list()).rejects.toMatchObject({
      code: 429,
      message: 'Too many requests',
      status: { details: { retryAfterSeconds: 1 } },
    })
  })

  test('the whole collection is read page by page', async () => {
    const { client, lines } = scripted(aList('5', [aMap('x', '1')], 'next'), aList('5', [aMap('y', '2')], ''))
    const list = await client.resource(configMaps).listAll({ resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' })
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['x', 'y'])
    expect(list.metadata).toEqual({ resourceVersion: '5' })
    expect(lines()).toEqual([
      'GET /api/v1/configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=500',
      'GET /api/v1/configmaps?limit=500&continue=next',
    ])
  })

  test('LIST-09: reading ends by the token, not by the remaining count', async () => {
    const page = (remainingItemCount: number, token?: string) =>
      answer(200, {
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '5', continue: token, remainingItemCount },
        items: [aMap('x', '1')],
      })
    const { client, lines } = scripted(page(0, 'next'), page(7))
    expect((await client.resource(configMaps).listAll()).items).toHaveLength(2)
    expect(lines()).toHaveLength(2)
  })

  test('CHUNK-11: after a token expired between pages, the client lists without a limit', async () => {
    const { client, lines } = scripted(aList('5', [aMap('x', '1')], 'next'), gone(), aList('9', [aMap('z', '8')]))
    const list = await client.resource(configMaps).listAll()
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['z'])
    expect(lines()[2]).toBe('GET /api/v1/configmaps')
  })

  test('RV-33: an exact list at another version is repeated with a limit, and refused if that version differs too', async () => {
    const exact = { resourceVersion: '5', resourceVersionMatch: 'Exact' } as const
    const helped = scripted(aList('9', []), aList('5', [aMap('x', '1')]))
    expect((await helped.client.resource(configMaps).list(exact)).items).toHaveLength(1)
    expect(helped.lines()[1]).toContain('limit=500')
    const helpless = scripted(aList('9', []), aList('9', []))
    await expect(helpless.client.resource(configMaps).list(exact)).rejects.toMatchObject({ reason: 'Conflict' })
  })

  test('a kind is found by discovery, once', async () => {
    const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get'] }]
    const { client, lines } = scripted(answer(200, { resources }), answer(200, {}), answer(200, {}))
    await client.objects.create(aMap('x', ''))
    await client.objects.get({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: 'a' })
    expect(lines()).toEqual(['GET /api/v1', 'POST /api/v1/namespaces/a/configmaps', 'GET /api/v1/namespaces/a/configmaps/x'])
  })

  test('all resources of many groups are discovered with few requests at once', async () => {
    const groups = Array.from({ length: 100 }, (_, index) => ({ name: `g${index}`, preferredVersion: { version: 'v1' } }))
    let open = 0
    let most = 0
    const transport: Transport = {
      async send({ path }) {
        open += 1
        most = Math.max(most, open)
        await new Promise((resolve) => setImmediate(resolve))
        open -= 1
        const resources = [{ name: 'things', kind: 'Thing', namespaced: true, verbs: ['get'] }]
        return answer(200, path === '/apis' ? { kind: 'APIGroupList', groups } : { resources })
      },
      close() {},
    }
    const { resources: found } = await createClient(transport).discoverAll()
    expect(found.map(({ group }) => group)).toEqual(['', ...groups.map(({ name }) => name)])
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(8)
  })

  test.each(['in one document', 'group version by group version'])(
    'a resource that the preferred version of its group lacks is discovered in another version, %s',
    async (how) => {
      const resource = (plural: string) => ({ resource: plural, singularResource: '', scope: 'Namespaced', verbs: ['get'] })
      const served = { v1: ['as', 'cs'], v2alpha1: ['as', 'bs'], v1alpha1: ['bs', 'cs'] }
      const items = Object.entries(served).map(([version, plurals]) => ({
        version,
        resources: plurals.map((plural) => ({ ...resource(plural), responseKind: { kind: plural } })),
      }))
      const versions = Object.keys(served).map((version) => ({ version }))
      const apis =
        how === 'in one document'
          ? { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'g' }, versions: items }] }
          : { kind: 'APIGroupList', groups: [{ name: 'g', preferredVersion: { version: 'v1' }, versions }] }
      const transport: Transport = {
        async send({ path }) {
          if (path === '/apis') return answer(200, apis)
          const [, plurals = []] = Object.entries(served).find(([version]) => path === `/apis/g/${version}`) ?? []
          return answer(200, { resources: plurals.map((name) => ({ name, kind: name, namespaced: true, verbs: ['get'] })) })
        },
        close() {},
      }
      const { resources: found } = await createClient(transport).discoverAll()
      expect(found.map(({ version, plural }) => `${version}/${plural}`)).toEqual(['v1/as', 'v1/cs', 'v2alpha1/bs'])
      expect(found.map(({ kind, group }) => [kind, group])).toEqual(['as', 'cs', 'bs'].map((kind) => [kind, 'g']))
    },
  )

  test.each(['in one document', 'group version by group version'])(
    'a group version whose server is unreachable is reported as unknown, %s',
    async (how) => {
      const things = { resource: 'things', singularResource: '', scope: 'Namespaced', verbs: ['get'], responseKind: { kind: 'Thing' } }
      const isOne = how === 'in one document'
      const versions = [
        { version: 'v1', resources: [things], freshness: 'Stale' },
        { version: 'v2', resources: [things], freshness: 'Current' },
        { version: 'v3', freshness: 'Current' },
      ]
      const transport: Transport = {
        async send({ path }) {
          if (path === '/apis') {
            const group = { name: 'g', preferredVersion: { version: 'v1' }, versions }
            return answer(
              200,
              isOne
                ? { kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: 'g' }, versions }] }
                : { kind: 'APIGroupList', groups: [group] },
            )
          }
          if (path === '/apis/g/v1') return answer(503, serviceUnavailable('not now').status)
          return answer(200, { resources: path === '/api/v1' ? [] : [{ name: 'things', kind: 'Thing', namespaced: true, verbs: ['get'] }] })
        },
        close() {},
      }
      const { resources, undiscovered } = await createClient(transport).discoverAll()
      expect(resources.map(({ version, plural }) => `${version}/${plural}`)).toEqual(['v2/things'])
      expect(undiscoveredMessage(undiscovered)).toBe(
        `unable to retrieve the complete list of server APIs: g/v1: ${isOne ? 'stale GroupVersion discovery: g/v1' : 'not now'}`,
      )
    },
  )

  test('all resources are discovered with two requests if the server has aggregated discovery', async () => {
    const catalogue = createCatalogue('orch')
    const inVersion = (group: string, version: string) => catalogue.inGroupVersion(group, version)
    const aggregated = aggregatedDocument(catalogue, catalogue.groups, inVersion)
    const plain = ({ groups, names }: typeof catalogue) => ({
      kind: 'APIGroupList',
      apiVersion: names.apiDomain,
      groups: groups.map(groupOf),
    })
    const groupOf = ({ name, versions }: { name: string; versions: readonly string[] }) => ({
      name,
      preferredVersion: { version: versions[0] ?? '' },
      versions: versions.map((version) => ({ version })),
    })
    const listOf = (path: string) => {
      const [, , group = '', version = ''] = path.startsWith('/api/') ? ['', '', '', 'v1'] : path.split('/')
      return apiResourceListDocument(`${group}/${version}`, inVersion(group, version), String)
    }
    const asked = async (apis: object) => {
      const paths: string[] = []
      const transport: Transport = {
        async send({ path }) {
          paths.push(path)
          return answer(200, path === '/apis' ? apis : listOf(path))
        },
        close() {},
      }
      const { resources: found } = await createClient(transport).discoverAll()
      return { paths, found: found.map(({ shortNames, categories, verbs, ...rest }) => ({ ...rest, verbs: [...verbs].sort() })) }
    }
    const [one, many] = [await asked(aggregated), await asked(plain(catalogue))]
    expect(one.paths).toEqual(['/api/v1', '/apis'])
    expect(many.paths.length).toBeGreaterThan(20)
    const byName = (found: typeof one.found) => new Map(found.map((resource) => [`${resource.group}/${resource.plural}`, resource]))
    expect(byName(one.found)).toEqual(byName(many.found))
  })
})

describe('a watch', () => {
  test('events are read across the borders of chunks, and an interrupted event is dropped', async () => {
    const text = JSON.stringify({ type: 'ADDED', object: aMap('ä', '1') })
    const body = bytesOf(text.slice(0, 20), `${text.slice(20)}\n{"type":"MOD`)
    const { client } = scripted({ status: 200, headers: {}, body })
    const seen: unknown[] = []
    for await (const event of await client.resource(configMaps).watch()) seen.push(event.object.metadata.name)
    expect(seen).toEqual(['ä'])
  })

  test('the requested media type is a header, and not part of the query', async () => {
    const { client, requests } = scripted(aWatch())
    await client.resource(configMaps).watch({ resourceVersion: '1', accept: 'application/json;as=Table' })
    expect(requests[0]).toMatchObject({
      path: '/api/v1/configmaps?watch=true&resourceVersion=1',
      headers: { accept: 'application/json;as=Table' },
    })
  })

  test('WATCH-22: an ERROR event ends the watch with its Status', async () => {
    const { client } = scripted(aWatch({ type: 'ERROR', object: expired('too old').status }))
    const events = await client.resource(configMaps).watch({ resourceVersion: '1' })
    await expect(events.next()).rejects.toMatchObject({ code: 410 })
  })
})

describe('an informer', () => {
  /** Runs an informer until the script is used up and the next request hangs. */
  async function follow(...answers: (TransportResponse | Error)[]) {
    const { client, requests, lines } = scripted(...answers)
    const ending = new AbortController()
    const events: string[] = []
    const delays: number[] = []
    const informer = startInformer({
      resource: client.resource(configMaps),
      signal: ending.signal,
      random: () => 0,
      sleep: async (delayMs) => void delays.push(delayMs),
      onEvent: ({ kind, object }: InformerEvent<ApiObject>) => void events.push(`${kind} ${object.metadata.name}`),
    })
    while (requests.length <= answers.length) await new Promise((resolve) => setImmediate(resolve))
    ending.abort()
    await informer.done
    return { informer, events, delays, lines: lines() }
  }
  const version = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '20' } } }

  test('RV-31, RV-34: the first list accepts any version and names its match, and the watch continues from the version of the list', async () => {
    const { events, lines, informer } = await follow(
      aList('5', [aMap('x', '1')]),
      aWatch(
        { type: 'ADDED', object: aMap('y', '6') },
        { type: 'MODIFIED', object: aMap('x', '7') },
        { type: 'DELETED', object: aMap('y', '8') },
      ),
    )
    expect(events).toEqual(['added x', 'added y', 'updated x', 'deleted y'])
    expect(informer.get('x', 'a')?.metadata.resourceVersion).toBe('7')
    expect(lines.slice(0, 3)).toEqual([
      'GET /api/v1/configmaps?resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=500',
      'GET /api/v1/configmaps?watch=true&resourceVersion=5&allowWatchBookmarks=true',
      'GET /api/v1/configmaps?watch=true&resourceVersion=8&allowWatchBookmarks=true',
    ])
  })

  test('META-14: a version is an opaque string: the last version counts, and it is returned unchanged', async () => {
    const { events, lines, informer } = await follow(
      aList('z/9+', [aMap('x', 'later')]),
      aWatch({ type: 'MODIFIED', object: aMap('x', 'earlier') }, { type: 'MODIFIED', object: aMap('x', '-1') }),
      aWatch({ type: 'MODIFIED', object: aMap('x', '-1') }, { type: 'BOOKMARK', object: { metadata: { resourceVersion: '0x0' } } }),
    )
    expect(events).toEqual(['added x', 'updated x', 'updated x'])
    expect(informer.get('x', 'a')?.metadata.resourceVersion).toBe('-1')
    expect(lines.slice(1).map((line) => /resourceVersion=([^&]*)/.exec(line)?.[1])).toEqual(['z%2F9%2B', '-1', '0x0'])
    expect(informer.resourceVersion).toBe('0x0')
  })

  test('WATCH-18: an interrupted watch resumes from the last version seen, bookmarks included', async () => {
    const { lines, delays } = await follow(aList('5', []), aWatch(version), new Error('connection lost'))
    expect(lines[3]).toContain('resourceVersion=20')
    expect(delays).toEqual([100])
  })

  test('WATCH-19: on 410 the collection is listed again and only differences are reported', async () => {
    const { events, lines } = await follow(
      aList('5', [aMap('x', '1'), aMap('y', '2')]),
      gone(),
      aList('30', [aMap('x', '1'), aMap('z', '29')]),
    )
    expect(events).toEqual(['added x', 'added y', 'deleted y', 'added z'])
    expect(lines[2]).toContain('resourceVersion=5&resourceVersionMatch=NotOlderThan')
    expect(lines[3]).toContain('resourceVersion=30')
  })

  test('META-11: a recreated object of the same name is reported as one deletion and one creation', async () => {
    const made = (uid: string, resourceVersion: string) => ({
      ...aMap('x', resourceVersion),
      metadata: { ...aMap('x', resourceVersion).metadata, uid },
    })
    const { events } = await follow(aList('5', [made('a', '1')]), gone(), aList('30', [made('b', '29')]))
    expect(events).toEqual(['added x', 'deleted x', 'added x'])
  })

  test('RV-32: an expired list with NotOlderThan falls back to the latest', async () => {
    const { lines } = await follow(aList('5', []), gone(), gone(), gone(), aList('30', []))
    expect(lines.slice(2, 5)).toEqual([
      'GET /api/v1/configmaps?resourceVersion=5&resourceVersionMatch=NotOlderThan&limit=500',
      'GET /api/v1/configmaps',
      'GET /api/v1/configmaps?limit=500',
    ])
  })

  test('failures are retried with growing delays', async () => {
    const { delays } = await follow(new Error('a'), new Error('b'), new Error('c'), aList('5', []))
    expect(delays).toEqual([100, 200, 400])
  })
})

describe('objects named by their kind', () => {
  test.each([
    ['{"kind":"Pod","metadata":{}}', 'apiVersion: expected a text that is not empty, got undefined'],
    ['{"apiVersion":1,"kind":"Pod","metadata":{}}', 'apiVersion: expected a text that is not empty, got 1'],
    ['{"apiVersion":"v1","metadata":{}}', 'kind: expected a text that is not empty, got undefined'],
    ['{"apiVersion":"v1","kind":"ConfigMap"}', 'metadata: expected an object, got undefined'],
  ])('%s is refused with the wrong field named', async (text, message) => {
    const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['create'] }]
    const { client } = scripted(answer(200, { resources }))
    for (const write of [client.objects.create, client.objects.update]) {
      await expect(write(JSON.parse(text))).rejects.toMatchObject({ message, reason: 'BadRequest' })
    }
  })

  test('an object names itself, and without a name nothing is sent', async () => {
    const resources = [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get'] }]
    const { client, lines } = scripted(answer(200, { resources }), ...['', '', ''].map(() => answer(200, aMap('x', ''))))
    const named = { ...aMap('x', ''), apiVersion: 'v1', metadata: { name: 'x', namespace: 'team' } }
    await client.objects.get(named)
    await client.objects.get({ ...named, name: 'y' })
    await client.objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', namespace: 'team' })
    for (const call of [client.objects.get, client.objects.delete])
      await expect(call({ ...named, metadata: { namespace: 'team' } })).rejects.toMatchObject({
        message: 'name: expected a text that is not empty, got undefined',
      })
    const path = '/api/v1/namespaces/team/configmaps'
    expect(lines()).toEqual(['GET /api/v1', `GET ${path}/x`, `GET ${path}/y`, `DELETE ${path}/x`])
  })

  test('a version with characters that a path cannot contain is sent encoded', async () => {
    const { client, lines } = scripted(answer(404, { kind: 'Status', status: 'Failure', code: 404 }))
    await expect(client.objects.create({ ...aMap('x', ''), apiVersion: 'a b/*' })).rejects.toMatchObject({ status: { code: 404 } })
    expect(lines()).toEqual(['GET /apis/a%20b/*'])
  })
})
