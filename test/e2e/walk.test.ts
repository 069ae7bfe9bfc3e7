import type { ApiObject } from '@orch/core/meta'
import { aConfigMap } from '@orch/testkit'
import { expect, test } from 'vitest'
import { startProcess } from './server-process.ts'

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }

test('a client of the orch profile creates, gets, pages, watches during a write, and deletes with a finalizer', async () => {
  const { client } = await startProcess([])
  const maps = client.resource(configMaps)
  const inDefault = { namespace: 'default' }
  for (const name of ['a', 'b', 'c']) await maps.create(aConfigMap({ name, labels: { walk: 'yes' } }))
  expect(await maps.get('a', inDefault)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a' } })

  const select = { ...inDefault, labelSelector: 'walk=yes' }
  const first = await maps.list({ ...select, limit: 2 })
  expect(first.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
  const second = await maps.list({ ...select, limit: 2, continue: first.metadata.continue })
  expect(second.items.map(({ metadata }) => metadata.name)).toEqual(['c'])
  expect(second.metadata.continue).toBeUndefined()

  const events = await maps.watch({ ...select, resourceVersion: first.metadata.resourceVersion })
  await maps.patch('a', { data: { x: '1' } }, { ...inDefault, type: 'merge' })
  await maps.delete('b', inDefault)
  expect(await take(events, 2)).toEqual(['MODIFIED a', 'DELETED b'])

  await maps.create(aConfigMap({ name: 'held', finalizers: ['example.com/hold'] }))
  const leaving = (await maps.delete('held', inDefault)) as ApiObject
  expect(leaving.metadata.deletionTimestamp).toBeTypeOf('string')
  await maps.patch('held', { metadata: { finalizers: null } }, { ...inDefault, type: 'merge' })
  await expect(maps.get('held', inDefault)).rejects.toMatchObject({ reason: 'NotFound' })
})

async function take(events: AsyncGenerator<{ type: string; object: ApiObject }>, count: number): Promise<string[]> {
  const seen: string[] = []
  for await (const { type, object } of events) {
    seen.push(`${type} ${object.metadata.name}`)
    if (seen.length === count) break
  }
  return seen
}
