import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import type { WatchSink } from '../../services/gateway/src/watch-hub/index.ts'
import { aGateway, merge } from './own-gateway.ts'

const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
const collection = '/apis/example.com/v1/widgets'
const name = 'widgets.example.com'
const versionWith = (properties: object) => ({
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties } },
})
const definition = {
  apiVersion: 'apiextensions.orch.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: { group: 'example.com', scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions: [versionWith({})] },
}
const widget = { apiVersion: 'example.com/v1', kind: 'Widget' }
const frame = (of: string) => Buffer.from(`${JSON.stringify({ type: 'ADDED', object: { ...widget, metadata: { name: of } } })}\n`)
const changed = { spec: { versions: [versionWith({ spec: { type: 'object' } })] } }

/** A gateway with a definition. The test gives the events of its watches; a list of its objects waits for the gate. */
async function aGatewayWithWidgets(gate: Promise<void> = Promise.resolve()) {
  const { promise: attached, resolve } = Promise.withResolvers<WatchSink>()
  const attach = ({ sink }: { sink: WatchSink }) => {
    resolve(sink)
    return { close() {} }
  }
  const watchHub = { attach, subscriptions: 0, close() {} }
  const listing = Promise.withResolvers<void>()
  const gateway = await aGateway(
    (storage) => ({
      list: (request, context) => {
        const listed = storage.list(request, context)
        if (request.scope.resource !== 'example.com/widgets') return listed
        listing.resolve()
        const late = (async function* () {
          await gate
          yield* listed
        })()
        return Object.assign(late, { close: () => listed.close() })
      },
    }),
    { watchHub },
  )
  await gateway.loadDefinitions()
  const { body } = await gateway.call('POST', definitions, definition)
  const change = async () => Number((await gateway.call('PATCH', `${definitions}/${name}`, changed, merge)).body.metadata.resourceVersion)
  const create = (object: string) => gateway.call('POST', collection, { ...widget, metadata: { name: object } })
  /** The names of the objects that a watch sends until its end. */
  const watch = async (query: string) => {
    const { body } = await gateway.send({ method: 'GET', path: `${collection}?watch=1&${query}`, headers: {} })
    let text = ''
    for await (const chunk of body) text += Buffer.from(chunk).toString()
    return [...text.matchAll(/"name":"(.*?)"/g)].map(([, object]) => object)
  }
  return { attached, listing: listing.promise, create, change, watch, revision: Number(body.metadata.resourceVersion) }
}

test('CRD-146: a watch whose definition has changed ends after the earlier events, at the change', async () => {
  const { attached, change, watch, revision } = await aGatewayWithWidgets()
  const seen = watch(`resourceVersion=${revision}`)
  const sink = await attached
  const last = await change()
  sink.frames(frame('before'), last - 1, 1)
  sink.position(last - 1)
  sink.frames(frame('with'), last, 1)
  sink.frames(frame('after'), last + 1, 1)
  expect(await seen).toEqual(['before', 'with'])
})

test('a watch that begins while its definition changes ends after the initial state', async () => {
  const gate = Promise.withResolvers<void>()
  const { listing, create, change, watch } = await aGatewayWithWidgets(gate.promise)
  await create('a')
  const seen = watch('resourceVersion=0')
  await listing
  await change()
  gate.resolve()
  expect(await seen).toEqual(['a'])
})

test('WATCH-10: a watch that ends while the loop is busy sends its last bookmark first', async () => {
  const fake = createFakeClock()
  let busyMs = 0
  const attached = Promise.withResolvers<void>()
  const watchHub = {
    attach() {
      attached.resolve()
      return { close() {} }
    },
    subscriptions: 0,
    close() {},
  }
  const clock = { ...fake, monotonic: () => fake.monotonic() + busyMs }
  const gateway = await aGateway(undefined, { clock, watchHub })
  await gateway.call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } })
  const path = '/api/v1/namespaces?watch=1&allowWatchBookmarks=true&timeoutSeconds=30'
  const { body } = await gateway.send({ method: 'GET', path, headers: {} })
  await attached.promise
  await new Promise((resolve) => setImmediate(resolve))
  busyMs = 5_000
  fake.advance(28_000)
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  expect([...text.matchAll(/"type":"(.*?)"/g)].map(([, type]) => type)).toEqual(['ADDED', 'BOOKMARK'])
})
