import { expect, test } from 'vitest'
import { anApi, until } from '../api/api.ts'
import { anApiService, registered, serviceAt } from './api-services.ts'
import { type Answering, aRemoteServer, flavorsPath, json, servingFlavors } from './remote-server.ts'

const collection = `${flavorsPath}/namespaces/{namespace}/flavors`
const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
const reference = (name: string) => ({ $ref: `#/definitions/${name}` })
const ours = 'io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta'

const document = {
  swagger: '2.0',
  info: { title: 'behind', version: '1' },
  paths: {
    [collection]: {
      get: {
        operationId: 'listFlavors',
        produces: ['application/json'],
        parameters: [{ in: 'query', name: 'limit', type: 'integer', uniqueItems: true }],
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
}

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string }>>
  definitions: Record<string, { description?: string; properties: Record<string, object> }>
}

const documented: Answering = (arrived, response) => {
  if (arrived.url === '/openapi/v2') return json(response, 200, document)
  servingFlavors(arrived, response)
}

test('AGG-28: OpenAPI 2 has the paths and definitions of other servers, under other names where a name is taken', async () => {
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
  expect(paths['/api/v1/namespaces']).toEqual(alone.paths['/api/v1/namespaces'])
  expect(definitions['example.Flavor']?.properties).toEqual({ metadata: reference(meta), ours: reference(`${ours}_v2`) })
  expect([definitions[ours], definitions[`${ours}_v2`]?.description]).toEqual([alone.definitions[ours], 'another one of this name'])
  expect(definitions).not.toHaveProperty('example.Unused')
})

test('AGG-28: a server that speaks OpenAPI 2 alone has a document of OpenAPI 3', async () => {
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
          parameters: [{ in: 'query', name: 'limit', schema: { type: 'integer', uniqueItems: true } }],
          responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/example.Flavor' } } } } },
        },
      },
    },
  })
})

test('AGG-28: the document of OpenAPI 3 of another server is passed with the hash that it gives', async () => {
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
