import { expect, onTestFinished, test } from 'vitest'
import { type Answer, type Api, anApi, type Body, created, sharedApi, until, untilEverywhere } from '../api/api.ts'
import { anApiService, apiServices, conditionOf, registered, serviceAt } from './api-services.ts'
import { aRemoteServer, flavorsPath, servingFlavors } from './remote-server.ts'

const server = sharedApi()

const nowhere = { caBundle: '' }

const taste = 'v1alpha1.taste.example.com'

/** Registers a group version whose Service does not exist. The registration ends with the test. */
async function anUnavailableGroup(api: Api): Promise<void> {
  await created(api, apiServices, anApiService(nowhere, { caBundle: undefined }))
  onTestFinished(async () => void (await api.delete(`${apiServices}/${taste}`)))
  await conditionOf(api, taste, ({ reason }) => reason === 'ServiceNotFound')
}

test('AGG-14: metrics show the unavailable servers, with their reasons', async () => {
  const { api } = server
  await anUnavailableGroup(api)
  const { text } = await untilEverywhere(
    () => api.get('/metrics'),
    (answer) => answer.text.includes('aggregator_unavailable_apiservice_total{'),
  )
  expect(text).toContain(`aggregator_unavailable_apiservice{name="${taste}"} 1`)
  expect(text).toContain(`aggregator_unavailable_apiservice_total{name="${taste}",reason="ServiceNotFound"} 1`)
})

test('AGG-01: the table shows the service and its availability', async () => {
  const table = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' }
  await anUnavailableGroup(server.api)
  const { body } = await server.api.get(apiServices, table)
  const { columnDefinitions, rows } = body as unknown as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }
  expect(columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Service', 'Available', 'Age'])
  const cells = rows.map((row) => row.cells.slice(0, 3))
  expect(cells).toContainEqual(['v1.apps', 'Local', 'True'])
  expect(cells).toContainEqual([taste, 'team/api', 'False (ServiceNotFound)'])
})

/** A server that takes every request and answers no request. */
async function silent(): Promise<Api> {
  let isSilent = false
  const behind = await aRemoteServer((arrived, response) => {
    if (!isSilent) servingFlavors(arrived, response)
  })
  const api = await anApi({ flags: [serviceAt(behind)] })
  await registered(api, anApiService(behind))
  isSilent = true
  void api.get(`${flavorsPath}/flavors`).catch(() => {})
  return api
}

const gone = ({ status }: Answer) => status === 404

test('AGG-29: namespaces, garbage and quotas continue while a remote server does not answer', async () => {
  const api = await silent()
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  const configMaps = '/api/v1/namespaces/n/configmaps'
  await created(api, '/api/v1/namespaces/n/resourcequotas', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { 'count/configmaps': '5' } },
  })
  const owner = await created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  await created(api, configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned', ownerReferences } })
  const used = ({ body }: Answer) => (body['status'] as { used?: Record<string, string> }).used?.['count/configmaps']
  await until(
    () => api.get('/api/v1/namespaces/n/resourcequotas/q'),
    (answer) => used(answer) === '2',
  )
  await api.delete(`${configMaps}/owner`)
  await until(() => api.get(`${configMaps}/owned`), gone)
  await api.delete('/api/v1/namespaces/n')
  await until(() => api.get('/api/v1/namespaces/n'), gone)
  expect((await api.get('/apis')).text).toContain('taste.example.com')
})

test('AGG-29: a namespace waits while the server of a group is down, with a condition, and is deleted when the APIService is removed', async () => {
  const { api } = server
  await anUnavailableGroup(api)
  await untilEverywhere(
    () => api.get(flavorsPath),
    ({ status }) => status === 503,
  )
  await created(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  await created(api, '/api/v1/namespaces/n/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
  await api.delete('/api/v1/namespaces/n')
  const conditionsOf = ({ body }: Answer) => (body['status'] as { conditions?: Body[] }).conditions ?? []
  const waiting = await until(
    () => api.get('/api/v1/namespaces/n'),
    (answer) => conditionsOf(answer).length > 0,
  )
  const why =
    'unable to retrieve the complete list of server APIs: taste.example.com/v1alpha1: stale GroupVersion discovery: taste.example.com/v1alpha1'
  expect(conditionsOf(waiting)[0]).toMatchObject({
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'True',
    reason: 'DiscoveryFailed',
    message: `Discovery failed for some groups, 1 failing: ${why}`,
  })
  expect((await api.get('/api/v1/namespaces/n/configmaps/a')).status).toBe(404)
  await api.delete(`${apiServices}/${taste}`)
  await until(() => api.get('/api/v1/namespaces/n'), gone)
  expect((await api.get('/api/v1/namespaces/n')).status).toBe(404)
})
