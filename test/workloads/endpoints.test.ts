import type { ApiObject } from '@orch/core/meta'
import { refuse, start } from 'orch'
import { expect, test } from 'vitest'

const endpoints = { group: '', version: 'v1', plural: 'endpoints', namespaced: true }
const namespace = 'default'
const user = 'system:serviceaccount:kube-system:endpoint-controller'

test('WL-EP-35: at the start Endpoints without a Service are deleted, except for those of leader election', async () => {
  await using before = await start({ profile: 'kubernetes', controllers: ['-*'] })
  const named = (name: string, annotations?: Record<string, string>): ApiObject => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace, annotations },
  })
  await before.client.objects.create({ ...named('by-hand'), kind: 'Service', spec: { ports: [{ port: 80 }] } })
  for (const name of ['gone', 'by-hand']) await before.client.objects.create(named(name))
  await before.client.objects.create(named('elected', { 'control-plane.alpha.kubernetes.io/leader': '{}' }))
  await using server = await start({ from: before.snapshot(), controllers: ['*', 'endpoint'] })
  const collection = server.client.resource(endpoints)
  await server.settled({ within: 60_000 })
  await collection.create(named('later'))
  await server.settled({ within: 60_000 })
  const { items } = await collection.list({ namespace })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['by-hand', 'elected', 'kubernetes', 'later'])
})

test.each([
  { reason: 'AlreadyExists', code: 409, events: [] },
  { reason: 'Forbidden', code: 403, events: ['FailedToCreateEndpoint'] },
])('Endpoints that are refused once as $reason are created later, with the events $events', async ({ reason, code, events }) => {
  await using server = await start({ profile: 'kubernetes', controllers: ['*', 'endpoint'] })
  const refused = server.faults.add({
    on: { user, verb: 'create', resource: 'endpoints' },
    times: 1,
    effect: refuse(code, { reason, always: true }),
  })
  const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] }
  await server.client.objects.create({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace }, spec })
  await server.settled({ within: 60_000 })
  await server.client.resource(endpoints).get('web', { namespace })
  const told = await server.client.resource<ApiObject & { readonly reason: string }>({ ...endpoints, plural: 'events' }).list({ namespace })
  expect({ refused: refused.hits, events: told.items.map((event) => event.reason) }).toEqual({ refused: 1, events })
})
