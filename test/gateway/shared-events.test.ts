import { silentLog, systemChance, systemClock } from '@orch/platform'
import { expect, onTestFinished, test } from 'vitest'
import { Faults, truncate } from '../../services/gateway/src/index.ts'
import { aGateway, collection, configMap, merge, withInitialEvents } from './own-gateway.ts'

type Gateway = Awaited<ReturnType<typeof aGateway>>

const metadataOnly = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io'

/** A watch of a client in this process that takes events without their text. */
async function watchIn({ send }: Gateway, { query = 'resourceVersion=1', accept = 'application/json', path = collection } = {}) {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const headers = { accept }
  const response = await send({ method: 'GET', path: `${path}?watch=1&${query}`, headers, signal: ending.signal, takesEvents: true })
  const pieces = response.pieces?.[Symbol.asyncIterator]()
  return {
    /** The next piece: its text, or its events. */
    async next() {
      const step = await pieces?.next()
      if (step === undefined || step.done === true) throw new Error('the watch has ended')
      const { value } = step
      return 'list' in value
        ? value.list.map((event) => ({ type: event.type, object: value.objectOf(event) }))
        : Buffer.from(value).toString()
    },
  }
}

test('watches in this process get one frozen object for a write, and the deleted object with the revision of its deletion', async () => {
  const gateway = await aGateway()
  const [one, other, metadata] = [await watchIn(gateway), await watchIn(gateway), await watchIn(gateway, { accept: metadataOnly })]
  const next = async () => [await one.next(), await other.next(), await metadata.next()] as const
  const { body: created } = await gateway.call('POST', collection, configMap({ a: 'ä' }))
  const [first, second, part] = await next()
  expect(first).toEqual([{ type: 'ADDED', object: created }])
  expect(second[0]).toHaveProperty('object', (first[0] as { object: object }).object)
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.orch.io/v1' }
  expect(part).toEqual([{ type: 'ADDED', object: { ...partial, metadata: created.metadata } }])
  const { body: patched } = await gateway.call('PATCH', `${collection}/a`, { data: { b: '1' } }, merge)
  const [changed, same] = await next()
  expect(changed).toEqual([{ type: 'MODIFIED', object: patched }])
  const objectIn = (events: unknown) => (events as { object: { data: object } }[])[0]?.object
  expect(objectIn(same)).toBe(objectIn(changed))
  expect(Object.isFrozen(objectIn(changed)?.data)).toBe(true)
  await gateway.call('DELETE', `${collection}/a`)
  const [deleted, , gone] = await next()
  const last = { ...patched.metadata, resourceVersion: expect.stringMatching(/^\d+$/) }
  expect(deleted).toEqual([{ type: 'DELETED', object: { ...patched, metadata: last } }])
  expect(gone).toEqual([{ type: 'DELETED', object: { ...partial, metadata: last } }])
  expect(objectIn(deleted)).not.toHaveProperty('metadata.resourceVersion', patched.metadata.resourceVersion)
})

test('a watch in this process gets the initial state, and events in other formats, as text', async () => {
  const gateway = await aGateway(undefined, withInitialEvents)
  await gateway.call('POST', collection, configMap())
  const state = await watchIn(gateway, { query: 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true' })
  expect(await state.next()).toContain('{"type":"ADDED","object":{"kind":"ConfigMap"')
  expect(await state.next()).toContain('"type":"BOOKMARK"')
  const table = await watchIn(gateway, { accept: 'application/json;as=Table;v=v1;g=meta.orch.io', query: '' })
  expect(await table.next()).toContain('"kind":"Table"')
  await gateway.call('PATCH', `${collection}/a`, { data: { b: '1' } }, merge)
  expect(await state.next()).toMatchObject([{ type: 'MODIFIED', object: { data: { b: '1' } } }])
  expect(await table.next()).toContain('"type":"MODIFIED"')
})

test('a fault of a watch holds, delays, truncates and cuts events without their text', async () => {
  const faults = new Faults({ clock: systemClock, log: silentLog, chance: systemChance })
  const gateway = await aGateway(undefined, { faults })
  const watch = await watchIn(gateway)
  const hold = faults.watches.hold()
  await gateway.call('POST', collection, configMap())
  hold.release()
  expect(await watch.next()).toMatchObject([{ type: 'ADDED', object: { metadata: { name: 'a' } } }])
  const patch = (text: string) => gateway.call('PATCH', `${collection}/a`, { data: { text } }, merge)
  {
    using _delay = faults.watches.delay(1)
    await patch('late')
    expect(await watch.next()).toMatchObject([{ object: { data: { text: 'late' } } }])
  }
  const { body } = await patch('whole')
  await watch.next()
  faults.add({ on: { user: 'tester', verb: 'watch' }, effect: truncate(10) })
  const truncated = await watchIn(gateway, { query: `resourceVersion=${body.metadata.resourceVersion}` })
  await patch('cut')
  expect(await truncated.next()).toBe('{"type":"M')
  expect(await watch.next()).toMatchObject([{ object: { data: { text: 'cut' } } }])
  faults.watches.cut()
  await expect(watch.next()).rejects.toThrow('broken off')
})
