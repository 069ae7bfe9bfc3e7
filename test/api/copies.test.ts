import { describe, expect, test } from 'vitest'
import { aNamespace, type Body, configMap, configMapsIn, created, sharedApi } from './api.ts'

const server = sharedApi()

/** Random numbers below a bound; the seed determines them. */
function dice(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

const apps = ['web', 'db', 'none']

/** Creates, changes and deletes objects of a collection at random. Some requests are refused. */
async function write(path: string, roll: (bound: number) => number, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    const name = `m-${roll(12)}`
    const labels = { app: apps[roll(apps.length)]! }
    switch (roll(4)) {
      case 0:
        await server.api.post(path, configMap({ name, labels }))
        break
      case 1:
        await server.api.patch(`${path}/${name}`, { metadata: { labels } })
        break
      case 2:
        await server.api.patch(`${path}/${name}`, { data: { turn: String(turn) } })
        break
      case 3:
        await server.api.delete(`${path}/${name}`)
        break
    }
  }
}

/** The collection's objects by name, at each version that a watch has sent. */
async function followed(path: string, selector: string, work: () => Promise<void>): Promise<Map<string, Body[]>> {
  const { body: list } = await server.api.get(`${path}?${selector}`)
  const watch = await server.api.watch(`${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}&${selector}`)
  const copy = new Map(list.items.map((item) => [item.metadata.name, item]))
  const states = new Map<string, Body[]>()
  const working = work()
  for (;;) {
    const [event] = await watch.take(1)
    const { type, object } = event!
    const { name } = object.metadata
    // The watch sends no event twice and no event about an absent object.
    expect({ type, name, isThere: copy.has(name) }).toEqual({ type, name, isThere: type !== 'ADDED' })
    if (type === 'DELETED') copy.delete(name)
    else copy.set(name, object)
    states.set(object.metadata.resourceVersion, [...copy.values()].sort(byName))
    if (name === 'the-end') break
  }
  await working
  return states
}

const byName = (left: Body, right: Body) => (left.metadata.name < right.metadata.name ? -1 : 1)

describe.each([7, 77, 777])('seed %i', (seed) => {
  test.each(['', 'labelSelector=app%3Dweb', 'labelSelector=app+notin+(db)', 'fieldSelector=metadata.name!%3Dm-3'])(
    'WATCH-17, RV-28, LIST-11: the events of a watch and a list agree at every version (%s)',
    async (selector) => {
      const path = configMapsIn(await aNamespace(server.api))
      await write(path, dice(seed), 20)
      const states = await followed(path, selector, async () => {
        await Promise.all([1, 2, 3].map((writer) => write(path, dice(seed * 10 + writer), 40)))
        await created(server.api, path, configMap({ name: 'the-end', labels: { app: 'web' } }))
      })
      expect(states.size).toBeGreaterThan(10)
      for (const [version, items] of states) {
        const { status, body } = await server.api.get(`${path}?resourceVersionMatch=Exact&resourceVersion=${version}&${selector}`)
        expect({ status, version: body.metadata.resourceVersion }).toEqual({ status: 200, version })
        expect(body.items).toEqual(items)
      }
    },
  )
})
