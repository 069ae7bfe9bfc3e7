import type { ServerResponse } from 'node:http'
import { silentLog } from '@orch/platform'
import { expect, test } from 'vitest'
import { type Answer, anApi, created, until } from '../api/api.ts'
import { anApiService, conditionOf, registered, serviceAt } from './api-services.ts'
import { type Answering, aRemoteServer, flavors, flavorsPath, json } from './remote-server.ts'

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'watch']
const resources = { name: 'flavors', singularName: 'flavor', namespaced: true, kind: 'Flavor', verbs }
const invalid = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Invalid', code: 422 }
const notFound = { ...invalid, reason: 'NotFound', code: 404 }

interface Flavor {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly ownerReferences?: readonly object[]
}

/** A server that behaves like Kubernetes 1.20: it does not know `sendInitialEvents`, it writes null for an empty list, and its events contain spaces. */
function olderServer(): Answering {
  const stored = new Map<string, Flavor>()
  const watches = new Set<ServerResponse>()
  const print = (type: string, metadata: Flavor) => {
    const object = { metadata: { ...metadata, resourceVersion: '8' }, kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1' }
    return `${JSON.stringify({ object, type }, undefined, 1).replaceAll('\n', '')}\n`
  }
  const tell = (type: string, metadata: Flavor) => {
    for (const response of watches) response.write(print(type, metadata))
  }
  const remove = (isMeant: (flavor: Flavor) => boolean) => {
    const meant = [...stored.values()].filter(isMeant)
    for (const flavor of meant) {
      stored.delete(flavor.uid)
      tell('DELETED', flavor)
    }
    return meant.length
  }
  return ({ method, url, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'https://behind')
    if (pathname === flavorsPath) {
      return json(response, 200, {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: `${flavors.group}/${flavors.version}`,
        resources: [resources],
      })
    }
    const [, namespace, name] = /^.*?(?:\/namespaces\/([^/]+))?\/flavors(?:\/([^/]+))?$/.exec(pathname) ?? []
    const isMeant = (flavor: Flavor) =>
      (namespace === undefined || flavor.namespace === namespace) && (name === undefined || flavor.name === name)
    if (searchParams.has('sendInitialEvents')) return json(response, 422, invalid)
    if (searchParams.has('watch')) {
      watches.add(response)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      // An object may have been created between the list and the watch.
      for (const flavor of stored.values()) response.write(print('ADDED', flavor))
      return
    }
    if (method === 'POST') {
      const { metadata } = JSON.parse(body) as { metadata: Flavor }
      const flavor = { ...metadata, uid: `uid-${metadata.name}` }
      stored.set(flavor.uid, flavor)
      tell('ADDED', flavor)
      return json(response, 201, { apiVersion: `${flavors.group}/${flavors.version}`, kind: 'Flavor', metadata: flavor })
    }
    if (method === 'DELETE')
      return json(response, remove(isMeant) === 0 && name !== undefined ? 404 : 200, { ...notFound, status: 'Success' })
    const found = [...stored.values()].filter(isMeant).map((metadata) => ({ metadata }))
    if (name === undefined) {
      const items = found.length === 0 ? null : found
      return json(response, 200, { apiVersion: 'v1', kind: 'FlavorList', metadata: { resourceVersion: '7' }, items })
    }
    return found[0] === undefined ? json(response, 404, notFound) : json(response, 200, found[0])
  }
}

async function opened() {
  const behind = await aRemoteServer(olderServer())
  const api = await anApi({ flags: [serviceAt(behind)] })
  await registered(api, anApiService(behind))
  return { api, behind }
}

const aFlavor = (name: string, ownerReferences: readonly object[] = []) => ({
  apiVersion: `${flavors.group}/${flavors.version}`,
  kind: 'Flavor',
  metadata: { name, namespace: 'default', ownerReferences },
})
const gone = ({ status }: Answer) => status === 404
const configMaps = '/api/v1/namespaces/default/configmaps'
const flavorsOf = (namespace: string) => `${flavorsPath}/namespaces/${namespace}/flavors`

test('AGG-29: a namespace without objects of an older server is deleted, and its objects there are deleted first', async () => {
  const { api } = await opened()
  for (const name of ['empty', 'full']) {
    await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const flavor = aFlavor('sour')
  await created(api, flavorsOf('full'), { ...flavor, metadata: { ...flavor.metadata, namespace: 'full' } })
  for (const name of ['empty', 'full']) await api.delete(`/api/v1/namespaces/${name}`)
  await until(() => api.get('/api/v1/namespaces/empty'), gone)
  await until(() => api.get('/api/v1/namespaces/full'), gone)
  expect((await api.get(flavorsOf('full'))).body).toMatchObject({ items: null })
})

test('AGG-29, DEL-12: objects of an older server whose APIService was added later are collected with their owners, and may be owners', async () => {
  const { api } = await opened()
  const owner = await created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
  const owned = aFlavor('owned', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }])
  const flavor = await created(api, flavorsOf('default'), owned)
  const reference = { apiVersion: owned.apiVersion, kind: 'Flavor', name: 'owned', uid: flavor.metadata.uid }
  await created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last', ownerReferences: [reference] } })
  expect((await api.get(`${configMaps}/last`)).status).toBe(200)
  await api.delete(`${configMaps}/owner`)
  await until(() => api.get(`${flavorsOf('default')}/owned`), gone)
  await until(() => api.get(`${configMaps}/last`), gone)
  expect((await api.get(configMaps)).body.items).toEqual([])
})

test('AGG-09, AGG-19: the log has one line for a lost server and one for its return, with the request that could not be forwarded', async () => {
  const lines: string[] = []
  const line = (fields: object, message: string) => {
    if (message.includes('APIService') || message.includes('passed on')) lines.push(message)
    if (message === 'a request has failed') lines.push(JSON.stringify(fields))
  }
  const log = { ...silentLog, info: line, warn: line, error: line, child: () => log }
  const behind = await aRemoteServer(olderServer())
  const api = await anApi({ flags: [serviceAt(behind)], log })
  const name = `${flavors.version}.${flavors.group}`
  await registered(api, anApiService(behind))
  const working = behind.answer
  behind.answer = (_arrived, response) => response.destroy()
  expect((await api.get(`${flavorsOf('default')}/none`)).status).toBe(503)
  await api.patch(`/apis/apiregistration.orch.io/v1/apiservices/${name}`, { metadata: { labels: { again: 'true' } } })
  await conditionOf(api, name, ({ status }) => status === 'False')
  await until(
    () => api.get(`${flavorsOf('default')}/none`),
    ({ text }) => text === 'service unavailable\n',
  )
  behind.answer = working
  await conditionOf(api, name, ({ status }) => status === 'True')
  // Several requests may have arrived before the gateway knew about the change.
  const refused = 'a request could not be passed on'
  expect(lines).toContain(refused)
  expect(lines.filter((text) => text !== refused)).toEqual([
    'the server of an APIService is available',
    'the server of an APIService is not available',
    'the server of an APIService is available',
  ])
})
