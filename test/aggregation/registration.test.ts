import type { ApiObject, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { silentLog, systemClock } from '@orch/platform'
import { aConfigMap, someQueueMetrics } from '@orch/testkit'
import { start } from 'orch'
import { expect, onTestFinished, test } from 'vitest'
import { garbageCollector } from '../../services/controllers/src/index.ts'
import { anApi, created, sharedApi, until } from '../api/api.ts'
import { anApiService, apiServices, conditionOf, registered, serviceAt } from './api-services.ts'
import { aRemoteServer, flavorsPath, json, servingFlavors } from './remote-server.ts'

const server = sharedApi()

const nowhere = { caBundle: '' }

/** Creates an APIService with these invalid fields; returns the message of the refusal. */
async function refusal(spec: object, name = 'v1alpha1.taste.example.com'): Promise<string> {
  const object = { ...anApiService(nowhere, { caBundle: undefined, ...spec }), metadata: { name } }
  const { status, body } = await server.api.post(`${apiServices}?dryRun=All`, object)
  return status === 201 ? '' : String(body['message'])
}

test('AGG-02: the name consists of version and group', async () => {
  expect(await refusal({}, 'a')).toContain(
    'metadata.name: Invalid value: "a": must be `spec.version+"."+spec.group`: "v1alpha1.taste.example.com"',
  )
  expect(await refusal({})).toBe('')
})

test.each([
  ['groupPriorityMinimum', 20_000],
  ['versionPriority', 1_000],
])('AGG-03: %s is from 1 to %i', async (field, max) => {
  for (const value of [0, -1, max + 1]) {
    expect(await refusal({ [field]: value })).toContain(`spec.${field}: Invalid value: ${value}: must be positive and less than ${max}`)
  }
  expect([await refusal({ [field]: 1 }), await refusal({ [field]: max })]).toEqual(['', ''])
})

test.each([
  [
    'a local one has no authority',
    { service: undefined, caBundle: 'YQ==' },
    'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle',
  ],
  [
    'a local one skips no verification',
    { service: undefined, insecureSkipTLSVerify: true },
    'local APIServices may not have insecureSkipTLSVerify',
  ],
  ['a remote one has a namespace', { service: { name: 'a' } }, 'spec.service.namespace: Required value'],
  ['a remote one has a name', { service: { namespace: 'a' } }, 'spec.service.name: Required value'],
  [
    'a port',
    { service: { namespace: 'a', name: 'b', port: 70_000 } },
    'spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
  ],
  [
    'one of both',
    { caBundle: 'YQ==', insecureSkipTLSVerify: true },
    'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present',
  ],
])('AGG-04: %s', async (_, spec, message) => {
  expect(await refusal(spec)).toContain(message)
})

test('AGG-04: the port is 443 by default', async () => {
  const { body } = await server.api.post(`${apiServices}?dryRun=All`, anApiService(nowhere, { caBundle: undefined }))
  expect(body['spec']).toMatchObject({ service: { port: 443 } })
})

test('AGG-13: for a Service without a cluster IP only the answer of its server counts', async () => {
  const behind = await aRemoteServer(servingFlavors, { dnsNames: ['away.default.svc'] })
  const api = await anApi()
  const spec = { type: 'ExternalName', externalName: 'localhost' }
  await created(api, '/api/v1/namespaces/default/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'away' }, spec })
  const service = { namespace: 'default', name: 'away', port: behind.port }
  expect(await registered(api, anApiService(behind, { service }))).toMatchObject({ reason: 'Passed' })
  expect((await api.get(`${flavorsPath}/namespaces/default/flavors/sweet`)).status).toBe(200)
})

test('AGG-23: a watch continues when another APIService changes', async () => {
  const writes: ((text: string) => void)[] = []
  const behind = await aRemoteServer((arrived, response) => {
    if (!arrived.url.includes('watch=true')) return servingFlavors(arrived, response)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    // The garbage collector also watches.
    if (!String(arrived.headers['x-remote-user']).startsWith('system:')) writes.push((text) => response.write(text))
  })
  const api = await anApi({ flags: [serviceAt(behind)] })
  await registered(api, anApiService(behind))
  const watch = await api.watch(`${flavorsPath}/flavors?watch=true`)
  const other = anApiService(nowhere, { caBundle: undefined }, { group: 'other.example.com', version: 'v1' })
  await created(api, apiServices, other)
  await conditionOf(api, 'v1.other.example.com', ({ status }) => status === 'False')
  await api.delete(`${apiServices}/v1.other.example.com`)
  writes[0]?.(`${JSON.stringify({ type: 'BOOKMARK', object: {} })}\n`)
  expect(await watch.next()).toMatchObject({ type: 'BOOKMARK' })
})

test('AGG-24: the authority that aggregated servers need is published', async () => {
  const { body } = await server.api.get('/api/v1/namespaces/orch-system/configmaps/extension-apiserver-authentication')
  expect((body['data'] as Record<string, string>)['client-ca-file']).toContain('BEGIN CERTIFICATE')
  const rbac = '/apis/rbac.authorization.orch.io/v1'
  const paths = [
    `${rbac}/clusterroles/system:auth-delegator`,
    `${rbac}/namespaces/orch-system/roles/extension-apiserver-authentication-reader`,
    `${rbac}/namespaces/orch-system/rolebindings/system::extension-apiserver-authentication-reader`,
  ]
  const codes = await Promise.all(paths.map(async (path) => (await server.api.get(path)).status))
  expect(codes).toEqual([200, 200, 200])
})

test('AGG-29: a garbage collector that starts while a remote server does not answer collects', async () => {
  let isSilent = false
  const behind = await aRemoteServer((arrived, response) => {
    if (!isSilent) servingFlavors(arrived, response)
  })
  const server = await start({ flags: [serviceAt(behind)], controllers: ['*', '-garbage-collector'] })
  onTestFinished(() => server.stop())
  const { client } = server
  await client.objects.create(anApiService(behind) as unknown as ApiObject)
  const discovered = async () => (await client.discoverAll()).resources.map(({ plural }) => plural)
  await expect.poll(discovered).toContain('flavors')
  isSilent = true
  const ending = new AbortController()
  const context = {
    client,
    names: namesOf('orch'),
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    queues: someQueueMetrics(),
    signal: ending.signal,
  }
  const running = garbageCollector.run(context)
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' }]
  const stray = { apiVersion: 'v1', kind: 'ConfigMap', name: 'stray', namespace: 'default' }
  await client.objects.create(aConfigMap({ name: 'stray', ownerReferences }))
  const found = () => client.objects.get(stray).catch(({ code }: StatusError) => code)
  await expect.poll(found).toBe(404)
})

test('AGG-27, AGG-29: an endless discovery document is not waited for', async () => {
  const piece = Buffer.alloc(256 * 1024, ' ')
  const behind = await aRemoteServer((arrived, response) => {
    if (arrived.url !== '/apis') return arrived.url === flavorsPath ? servingFlavors(arrived, response) : json(response, 404, {})
    response.writeHead(200, { 'content-type': 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList' })
    const write = () => {
      while (!response.destroyed && response.write(piece)) {}
      if (!response.destroyed) response.once('drain', write)
    }
    write()
  })
  const api = await anApi({ flags: [serviceAt(behind)] })
  await registered(api, anApiService(behind))
  const accept = 'application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList'
  await until(
    () => api.get('/apis', { accept }),
    ({ text }) => text.includes('"resource":"flavors"'),
  )
  expect((await api.get('/readyz')).status).toBe(200)
})
