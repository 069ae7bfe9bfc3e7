import { clusterMode, createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { anApi, created, until, untilEverywhere } from '../api/api.ts'
import { anApiService, apiServices, registered, serviceAt } from './api-services.ts'
import { type Answering, aRemoteServer, flavors, flavorsPath, json, servingFlavors } from './remote-server.ts'

const collection = `${flavorsPath}/namespaces/{namespace}/flavors`
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
const reference = (name: string) => ({ $ref: `#/definitions/${name}` })
const ours = 'io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const limit = { in: 'query', name: 'limit', type: 'integer', uniqueItems: true }

const document = {
  swagger: '2.0',
  info: { title: 'behind', version: '1' },
  paths: {
    [collection]: {
      get: {
        operationId: 'listFlavors',
        produces: ['application/json'],
        parameters: [limit, { $ref: '#/parameters/pretty-of-the-server-behind' }, { $ref: '#/parameters/none' }],
        responses: { 200: { description: 'OK', schema: reference('example.Flavor') } },
      },
    },
    '/api/v1/namespaces': { get: { operationId: 'lie', responses: {} } },
  },
  definitions: {
    'example.Flavor': { type: 'object', properties: { metadata: reference(meta), ours: reference(ours) } },
    [meta]: { type: 'object', description: 'of the server behind' },
    [ours]: { type: 'object', description: 'another one of this name' },
    'example.Unused': { type: 'string' },
  },
  parameters: { 'pretty-of-the-server-behind': { in: 'query', name: 'pretty', type: 'string' } },
}

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string; parameters: readonly object[] }>>
  definitions: Record<string, { description?: string; properties: Record<string, object> }>
}

const documented: Answering = (arrived, response) => {
  if (arrived.url === '/openapi/v2') return json(response, 200, document)
  servingFlavors(arrived, response)
}

test('AGG-28: OpenAPI 2 has the paths and definitions of other servers, under other names if a name is taken', async () => {
  const server = await aRemoteServer(documented)
  const api = await anApi({ flags: [serviceAt(server)] })
  const alone = (await api.get('/openapi/v2')).body as unknown as OpenApi
  await registered(api, anApiService(server))
  const answer = await until(
    () => api.get('/openapi/v2'),
    ({ text }) => text.includes('listFlavors'),
  )
  const { paths, definitions } = answer.body as unknown as OpenApi
  expect(paths[collection]?.['get']?.operationId).toBe('listFlavors')
  // The remote server's parameters of this name are not ours.
  expect(paths[collection]?.['get']?.parameters).toEqual([
    limit,
    { in: 'query', name: 'pretty', type: 'string' },
    { $ref: '#/parameters/none' },
  ])
  expect(paths['/api/v1/namespaces']).toEqual(alone.paths['/api/v1/namespaces'])
  expect(definitions['example.Flavor']?.properties).toEqual({ metadata: reference(meta), ours: reference(`${ours}_v2`) })
  expect([definitions[ours], definitions[`${ours}_v2`]?.description]).toEqual([alone.definitions[ours], 'another one of this name'])
  expect(definitions).not.toHaveProperty('example.Unused')
})

test('AGG-28: a server with only OpenAPI 2 gets a document of OpenAPI 3', async () => {
  const server = await aRemoteServer(documented)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  const index = await until(
    () => api.get('/openapi/v3'),
    ({ text }) => text.includes('taste.example.com'),
  )
  const { serverRelativeURL: url } = (index.body['paths'] as Record<string, { serverRelativeURL: string }>)[
    'apis/taste.example.com/v1alpha1'
  ]!
  const { status, headers, body } = await api.get(url)
  expect([status, headers['cache-control']]).toEqual([200, 'public, immutable'])
  expect(body).toMatchObject({
    openapi: '3.0.0',
    paths: {
      [collection]: {
        get: {
          parameters: [
            { in: 'query', name: 'limit', schema: { type: 'integer', uniqueItems: true } },
            { in: 'query', name: 'pretty', schema: { type: 'string' } },
          ],
          responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/example.Flavor' } } } } },
        },
      },
    },
  })
})

test('AGG-28: the OpenAPI 3 document of another server is forwarded with its hash', async () => {
  const name = 'apis/taste.example.com/v1alpha1'
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url === '/openapi/v3') {
      return json(response, 200, {
        paths: { [name]: { serverRelativeURL: `/openapi/v3/${name}?hash=ABC` }, 'apis/apps/v1': { serverRelativeURL: '/lie' } },
      })
    }
    if (arrived.url === `/openapi/v3/${name}?hash=ABC`) return json(response, 200, { openapi: '3.0.0', from: 'behind' })
    servingFlavors(arrived, response)
  })
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  const index = await until(
    () => api.get('/openapi/v3'),
    ({ text }) => text.includes('taste.example.com'),
  )
  expect(index.body['paths']).toMatchObject({ [name]: { serverRelativeURL: `/openapi/v3/${name}?hash=ABC` } })
  expect(index.text).not.toContain('/lie')
  const { headers, body } = await api.get(`/openapi/v3/${name}?hash=ABC`)
  expect([headers['etag'], body]).toEqual(['"ABC"', { openapi: '3.0.0', from: 'behind' }])
})

/** Counts how often a text contains a member of this name. */
function timesOf(text: string, name: string): number {
  return text.split(`${JSON.stringify(name)}:`).length - 1
}

const definition = {
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'flavors.taste.example.com' },
  spec: {
    group: flavors.group,
    scope: 'Namespaced',
    names: { plural: 'flavors', kind: 'Flavor' },
    versions: ['v1alpha1', 'v1'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: { type: 'object', description: `${name} of the definition` } },
    })),
  },
}

test('AGG-06, AGG-28: a version of a definition that another server serves has only the description of that server', async () => {
  const server = await aRemoteServer(documented)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  await created(api, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', definition)
  const ofOther = '/apis/taste.example.com/v1/namespaces/{namespace}/flavors'
  await untilEverywhere(
    () => api.get('/openapi/v3'),
    ({ text }) => text.includes(`${flavors.group}/v1?`) && text.includes(`${flavors.group}/v1alpha1?`),
  )
  const { text, body } = await until(
    () => api.get('/openapi/v2'),
    ({ text }) => text.includes('listFlavors') && text.includes(ofOther),
  )
  const { paths } = body as unknown as OpenApi
  expect([timesOf(text, collection), timesOf(text, ofOther)]).toEqual([1, 1])
  expect(paths[collection]?.['get']?.operationId).toBe('listFlavors')
  expect([text.includes('v1 of the definition'), text.includes('v1alpha1 of the definition')]).toEqual([true, false])
  const index = await api.get('/openapi/v3')
  const documents = index.body['paths'] as Record<string, { serverRelativeURL: string }>
  expect(Object.keys(documents).filter((name) => name.includes('taste.example.com'))).toEqual([
    'apis/taste.example.com',
    'apis/taste.example.com/v1',
    'apis/taste.example.com/v1alpha1',
  ])
  const { text: remote } = await api.get(documents['apis/taste.example.com/v1alpha1']!.serverRelativeURL)
  expect([remote.includes('listFlavors'), remote.includes('of the definition')]).toEqual([true, false])
})

test('AGG-28: definitions of one name from two servers stay separate, and each path refers to the definition of its server', async () => {
  const serving = (place: { group: string; version: string }, of: string): Answering => {
    const root = `/apis/${place.group}/${place.version}`
    const responses = { 200: { description: 'OK', schema: reference('example.Holder') } }
    const definitions = {
      'example.Holder': { type: 'object', properties: { spec: reference('example.Spec') } },
      'example.Spec': { type: 'object', description: of },
    }
    const paths = { [`${root}/things`]: { get: { operationId: `list${of}`, responses } } }
    return ({ url }, response) => {
      if (url === '/openapi/v2') return json(response, 200, { swagger: '2.0', paths, definitions })
      const list = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${place.group}/${place.version}`, resources: [] }
      return url === root ? json(response, 200, list) : json(response, 404, {})
    }
  }
  const places = [flavors, { group: 'smell.example.com', version: 'v1' }]
  const [one, two] = [await aRemoteServer(serving(places[0]!, 'One')), await aRemoteServer(serving(places[1]!, 'Two'))]
  const api = await anApi({ flags: [`--webhook-service-map=team/api=${one.address},team/other=${two.address}`] })
  await registered(api, anApiService(one))
  const other = { service: { namespace: 'team', name: 'other' }, insecureSkipTLSVerify: true, caBundle: undefined }
  await created(api, apiServices, anApiService(two, other, places[1]))
  const { text, body } = await until(
    () => api.get('/openapi/v2'),
    ({ text }) => text.includes('listOne') && text.includes('listTwo'),
  )
  const { paths, definitions } = body as unknown as OpenApi
  for (const name of ['example.Holder', 'example.Spec']) expect(timesOf(text, name)).toBe(1)
  const specOf = (path: string) => {
    const { responses } = paths[path]!['get'] as unknown as { responses: Record<string, { schema: { $ref: string } }> }
    const holder = definitions[nameIn(responses['200']!.schema)]!
    return definitions[nameIn(holder.properties['spec'] as { $ref: string })]?.description
  }
  expect([specOf('/apis/taste.example.com/v1alpha1/things'), specOf('/apis/smell.example.com/v1/things')]).toEqual(['One', 'Two'])
})

function nameIn({ $ref }: { $ref: string }): string {
  return $ref.replace('#/definitions/', '')
}

/** A document of more than ten megabytes, with a path and a definition for each of many kinds. */
function aLargeDocument(kinds: number) {
  const description = 'x'.repeat(1_000)
  const names = Array.from({ length: kinds }, (_, index) => `Kind${index}`)
  const operation = (name: string) => ({
    get: { operationId: `list${name}`, responses: { 200: { description: 'OK', schema: reference(`example.${name}`) } } },
  })
  return {
    swagger: '2.0',
    paths: Object.fromEntries(names.map((name) => [`${flavorsPath}/${name}`, operation(name)])),
    definitions: Object.fromEntries(names.map((name) => [`example.${name}`, { type: 'object', description }])),
  }
}

test('AGG-28: a document of ten megabytes is read, and not again while its ETag is the same', async () => {
  const clock = clusterMode() === 'embedded' ? createFakeClock(Date.now()) : undefined
  const bytes = Buffer.from(JSON.stringify(aLargeDocument(9_000)))
  expect(bytes.length).toBeGreaterThan(10 * 1024 * 1024)
  const tags: unknown[] = []
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url !== '/openapi/v2') return servingFlavors(arrived, response)
    tags.push(arrived.headers['if-none-match'])
    const isKnown = arrived.headers['if-none-match'] === '"one"'
    response.writeHead(isKnown ? 304 : 200, { 'content-type': 'application/json', etag: '"one"' })
    response.end(isKnown ? undefined : bytes)
  })
  const api = await anApi({ flags: [serviceAt(server)], ...(clock === undefined ? {} : { clock }) })
  await registered(api, anApiService(server))
  await untilEverywhere(
    () => api.get('/openapi/v3'),
    ({ text }) => text.includes(flavors.group),
  )
  const { paths, definitions } = (await api.get('/openapi/v2')).body as unknown as OpenApi
  expect(paths[`${flavorsPath}/Kind0`]?.['get']?.operationId).toBe('listKind0')
  expect(definitions['example.Kind8999']?.description).toHaveLength(1_000)
  const third = await api.get(`/openapi/v3/apis/${flavors.group}/${flavors.version}`)
  expect(third.text).toContain('"example.Kind8999"')
  if (clock === undefined) return
  const before = tags.length
  clock.advance(60_000)
  await until(
    () => api.get('/version'),
    () => tags.length > before,
  )
  expect([tags[0], tags.at(-1)]).toEqual([undefined, '"one"'])
  expect((await api.get('/openapi/v2')).text).toContain('listKind8999')
})

test('AGG-28: a document of more than 64 MiB is not read, and its group version is still served', async () => {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  const { promise: refused, resolve } = Promise.withResolvers<void>()
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url !== '/openapi/v2') return servingFlavors(arrived, response)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.on('close', resolve)
    const write = () => {
      while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', write)
    }
    write()
  })
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  await refused
  expect((await api.get('/openapi/v2')).status).toBe(200)
  expect((await api.get(`${flavorsPath}/namespaces/default/flavors/sweet`)).status).toBe(200)
})
