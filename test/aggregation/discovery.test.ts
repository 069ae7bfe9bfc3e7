import { expect, test } from 'vitest'
import { type Answer, type Api, anApi, created, until, untilEverywhere } from '../api/api.ts'
import { anApiService, apiServices, registered, serviceAt } from './api-services.ts'
import { aRemoteServer, flavorsPath, json, servingFlavors } from './remote-server.ts'

const wantsAggregated = { accept: 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList,application/json' }

interface Version {
  version: string
  freshness: string
  resources: { resource: string; verbs: string[] }[]
}

function versionIn({ body }: Answer): Version | undefined {
  const items = (body.items ?? []) as unknown as { metadata: { name: string }; versions: Version[] }[]
  return items.find(({ metadata }) => metadata.name === 'taste.example.com')?.versions[0]
}

async function untilShown(api: Api, isWanted: (version: Version | undefined) => boolean): Promise<Version | undefined> {
  return versionIn(
    await untilEverywhere(
      () => api.get('/apis', wantsAggregated),
      (answer) => isWanted(versionIn(answer)),
    ),
  )
}

function groupsIn({ body }: Answer): string[] {
  return (body['groups'] as { name: string }[]).map(({ name }) => name)
}

test('AGG-26, AGG-30: groups are in the order of their priorities, and a group is removed with its APIService', async () => {
  const server = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server, { groupPriorityMinimum: 17_790 }))
  expect(groupsIn(await api.get('/apis')).slice(0, 4)).toEqual(['apiregistration.orch.io', 'apps', 'taste.example.com', 'events.orch.io'])
  expect((await api.get('/apis/taste.example.com')).body).toMatchObject({ preferredVersion: { version: 'v1alpha1' } })
  await api.delete(`${apiServices}/v1alpha1.taste.example.com`)
  await until(
    () => api.get('/apis'),
    (answer) => !groupsIn(answer).includes('taste.example.com'),
  )
  expect((await api.get('/apis/taste.example.com')).status).toBe(404)
})

test('AGG-27: aggregated discovery shows the resources of a server with the older discovery format', async () => {
  const server = await aRemoteServer(servingFlavors)
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  const shown = await untilShown(api, (version) => version?.freshness === 'Current')
  expect(shown?.resources).toMatchObject([{ resource: 'flavors', scope: 'Namespaced', shortNames: ['fl'] }])
  const { headers } = await api.get('/apis', wantsAggregated)
  const again = await api.get('/apis', { ...wantsAggregated, 'if-none-match': String(headers['etag']) })
  expect([again.status, again.text]).toEqual([304, ''])
})

test('AGG-27: other group versions in an aggregated discovery are ignored', async () => {
  const version = (name: string, resource: string) => ({ version: name, resources: [{ resource, verbs: ['get'] }], freshness: 'Current' })
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url !== '/apis') return servingFlavors(arrived, response)
    const asked = String(arrived.headers.accept).split(',')[0] ?? ''
    response.writeHead(200, { 'content-type': asked, etag: '"1"' })
    const items = [
      { metadata: { name: 'apps' }, versions: [version('v1', 'lies')] },
      { metadata: { name: 'taste.example.com' }, versions: [version('v9', 'lies'), version('v1alpha1', 'flavors')] },
    ]
    response.end(JSON.stringify({ kind: 'APIGroupDiscoveryList', items }))
  })
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  expect(await untilShown(api, (one) => one?.freshness === 'Current')).toMatchObject({ resources: [{ resource: 'flavors' }] })
  expect((await api.get('/apis', wantsAggregated)).text).not.toContain('lies')
})

test('AGG-27, AGG-29: resources without a kind or verbs, and of another format, do not stop the deletion of a namespace', async () => {
  const resources = [{ resource: 'parents', subresources: [] }, { resource: 'odd', responseKind: 1, scope: {}, verbs: 'all' }, 'text']
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url !== '/apis') return servingFlavors(arrived, response)
    response.writeHead(200, { 'content-type': String(arrived.headers.accept).split(',')[0] ?? '' })
    const items = [{ metadata: { name: 'taste.example.com' }, versions: [{ version: 'v1alpha1', resources, freshness: 'Current' }] }]
    response.end(JSON.stringify({ kind: 'APIGroupDiscoveryList', items }))
  })
  const api = await anApi({ flags: [serviceAt(server)] })
  await registered(api, anApiService(server))
  expect((await untilShown(api, (one) => one?.freshness === 'Current'))?.resources).toMatchObject([
    { resource: 'parents', responseKind: { group: '', version: '', kind: '' }, verbs: [] },
    { resource: 'odd', scope: '', verbs: [] },
  ])
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  await api.delete('/api/v1/namespaces/n')
  const { status } = await until(
    () => api.get('/api/v1/namespaces/n'),
    (answer) => answer.status === 404,
  )
  expect(status).toBe(404)
})

test('AGG-27, AGG-29: a server that does not answer is marked stale, and the others are shown', async () => {
  const server = await aRemoteServer(() => {})
  const api = await anApi({ flags: [serviceAt(server)] })
  await created(api, apiServices, anApiService(server))
  const answer = await until(
    () => api.get('/apis', wantsAggregated),
    (one) => versionIn(one) !== undefined,
  )
  expect(versionIn(answer)).toEqual({ version: expect.any(String), freshness: 'Stale' })
  expect(answer.text).toContain('"resource":"deployments"')
})

test('AGG-06: an APIService made by hand replaces the group version of a definition, until it is deleted', async () => {
  const server = await aRemoteServer((arrived, response) => {
    if (arrived.url === flavorsPath) return servingFlavors(arrived, response)
    json(response, 200, { from: 'behind' })
  })
  const api = await anApi({ flags: [serviceAt(server)] })
  const names = { plural: 'flavors', singular: 'flavor', kind: 'Flavor', listKind: 'FlavorList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  await created(api, '/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'flavors.taste.example.com' },
    spec: { group: 'taste.example.com', names, scope: 'Namespaced', versions: [{ name: 'v1alpha1', served: true, storage: true, schema }] },
  })
  const path = `${apiServices}/v1alpha1.taste.example.com`
  const own = await until(
    () => api.get(path),
    ({ status }) => status === 200,
  )
  expect(own.body).toMatchObject({
    metadata: { labels: { 'orch-aggregator.orch.io/automanaged': 'true' } },
    spec: { groupPriorityMinimum: 1000, versionPriority: 100 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  })
  const list = `${flavorsPath}/namespaces/default/flavors`
  expect((await api.get(list)).body.kind).toBe('FlavorList')
  const { metadata, ...rest } = anApiService(server) as { metadata: object }
  const version = own.body.metadata.resourceVersion
  expect((await api.put(path, { ...rest, metadata: { ...metadata, resourceVersion: version, labels: {} } })).status).toBe(200)
  expect(
    (
      await until(
        () => api.get(list),
        ({ text }) => text.includes('behind'),
      )
    ).body,
  ).toEqual({ from: 'behind' })
  await api.delete(path)
  await until(
    () => api.get(list),
    ({ body }) => body.kind === 'FlavorList',
  )
  const again = await until(
    () => api.get(path),
    ({ status }) => status === 200,
  )
  expect(again.body['spec']).toEqual(own.body['spec'])
  await api.delete('/apis/apiextensions.orch.io/v1/customresourcedefinitions/flavors.taste.example.com')
  await until(
    () => api.get(path),
    ({ status }) => status === 404,
  )
})

test('AGG-05, AGG-08: each built-in group version has a local APIService from the start', async () => {
  const api = await anApi()
  const { body } = await api.get(apiServices)
  const found = Object.fromEntries(
    body.items.map(({ metadata, spec, status }) => {
      const { groupPriorityMinimum, versionPriority } = spec as { groupPriorityMinimum: number; versionPriority: number }
      const [condition] = (status as { conditions: Record<string, string>[] }).conditions
      expect([metadata.labels, condition?.['reason']]).toEqual([{ 'orch-aggregator.orch.io/automanaged': 'onstart' }, 'Local'])
      return [metadata.name, [groupPriorityMinimum, versionPriority]]
    }),
  )
  expect(found).toMatchObject({
    'v1.': [18_000, 1],
    'v1.apps': [17_800, 15],
    'v2.autoscaling': [17_500, 30],
    'v1.autoscaling': [17_500, 15],
    'v1.apiextensions.orch.io': [16_700, 15],
    'v1.admissionregistration.orch.io': [16_700, 15],
    'v1.discovery.orch.io': [16_200, 15],
  })
  expect(Object.keys(found)).not.toContain('v1.apiregistration.orch.io')
  const ready = await until(
    () => api.get('/readyz?verbose'),
    ({ status }) => status === 200,
  )
  expect(ready.text).toContain('[+]autoregister-completion ok')
})
