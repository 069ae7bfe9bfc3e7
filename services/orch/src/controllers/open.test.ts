import { createCatalogue } from '@orch/core/catalogue'
import { systemClock } from '@orch/platform'
import { createMemoryStore, createStorage } from '@orch/storage'
import { aPut, createRefilledStore, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { untilNeededIn } from './open.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('controllers start with objects that come while memory is loading', async () => {
  const inner = createMemoryStore()
  const { store, refill } = createRefilledStore(inner)
  // Another replica writes while this one is cut off.
  const deaf = new Proxy(store, { get: (target, name) => (name === 'listen' ? () => () => {} : Reflect.get(target, name)) })
  const [storage, replica] = [await createStorage({ store: deaf }), await createStorage({ store: inner })]
  const ending = new AbortController()
  onTestFinished(async () => {
    ending.abort()
    for (const one of [storage, replica]) one.close()
    await inner.close()
  })
  const needed: string[] = []
  const untilNeeded = untilNeededIn({ storage, catalogue: createCatalogue('orch'), clock: systemClock, restingSince: 0 })
  const of = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
  for (const need of [{ kind: 'object', of }, { kind: 'owners' }] as const)
    void untilNeeded(need, ending.signal).then(() => needed.push(need.kind))
  const metadata = {
    name: 'a',
    namespace: 'default',
    uid: 'a',
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'b', uid: 'b' }],
  }
  await written(replica, aPut({ name: 'a', members: { metadata } }))
  await turn()
  expect(needed).toEqual([])
  const fill = refill()
  await turn()
  fill()
  await expect.poll(() => needed.toSorted()).toEqual(['object', 'owners'])
})
