import { expect, test } from 'vitest'
import { aNamespace, configMap, configMapsIn, created, sharedApi, someConfigMaps } from './api.ts'
import type { WatchEvent } from './watch-reader.ts'

const server = sharedApi()
const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
const endsWith = 'orch.io/initial-events-end'

interface Metadata {
  readonly name?: string
  readonly resourceVersion: string
  readonly annotations?: Record<string, string>
}

/** Events of a watch up to the bookmark that ends its initial state. */
async function untilEnd(watch: { take(count: number): Promise<WatchEvent[]> }): Promise<WatchEvent[]> {
  const events: WatchEvent[] = []
  for (;;) {
    const [event] = await watch.take(1)
    if (event === undefined) return events
    events.push(event)
    if (event.type === 'BOOKMARK' && metadataOf(event).annotations?.[endsWith] === 'true') return events
  }
}

function metadataOf({ object }: WatchEvent): Metadata {
  return (object as unknown as { metadata: Metadata }).metadata
}

const namesOf = (events: readonly WatchEvent[]) => events.filter(({ type }) => type !== 'BOOKMARK').map((event) => metadataOf(event).name)

test('READ-01, READ-03: with sendInitialEvents and no version a bookmark ends the initial state, at least as new as the newest write', async () => {
  const path = await someConfigMaps(server.api, 'a')
  const { metadata } = await created(server.api, path, configMap({ name: 'b' }))
  for (const version of ['', '&resourceVersion=', '&resourceVersion=0', `&resourceVersion=${metadata.resourceVersion}`]) {
    const events = await untilEnd(await server.api.watch(`${path}?${initial}${version}`))
    const end = events.at(-1) as WatchEvent
    expect(namesOf(events).sort()).toEqual(['a', 'b'])
    if (version !== '&resourceVersion=0')
      expect(Number(metadataOf(end).resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion))
  }
})

test('READ-05: the initial state follows selectors, and precedes later changes of each object', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  for (const name of ['a', 'b', 'c']) await created(server.api, path, configMap({ name, labels: { side: name === 'c' ? 'out' : 'in' } }))
  let isWriting = true
  const writing = (async () => {
    for (let turn = 0; isWriting; turn++) await server.api.patch(`${path}/a`, { data: { turn: String(turn) } })
  })()
  try {
    for (let round = 0; round < 10; round++) {
      const watch = await server.api.watch(`${path}?${initial}&labelSelector=side%3Din`)
      const events = await untilEnd(watch)
      expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK'])
      expect(namesOf(events).sort()).toEqual(['a', 'b'])
      const end = Number(metadataOf(events.at(-1) as WatchEvent).resourceVersion)
      const [next] = await watch.take(1)
      expect([next?.type, metadataOf(next as WatchEvent).name]).toEqual(['MODIFIED', 'a'])
      expect(Number(metadataOf(next as WatchEvent).resourceVersion)).toBeGreaterThan(end)
      watch.close()
    }
  } finally {
    isWriting = false
    await writing
  }
})

test('READ-06: PartialObjectMetadata is sent up to the marked bookmark', async () => {
  const path = await someConfigMaps(server.api, 'a', 'b')
  const accept = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1'
  const events = await untilEnd(await server.api.watch(`${path}?${initial}`, { accept }))
  expect(events.map(({ type, object }) => [type, (object as { kind?: string }).kind])).toEqual([
    ['ADDED', 'PartialObjectMetadata'],
    ['ADDED', 'PartialObjectMetadata'],
    ['BOOKMARK', 'PartialObjectMetadata'],
  ])
})

test('READ-06: Tables are sent up to the marked bookmark, with columns only in the first', async () => {
  const path = await someConfigMaps(server.api, 'a', 'b')
  const accept = 'application/json;as=Table;g=meta.orch.io;v=v1'
  const watch = await server.api.watch(`${path}?${initial}`, { accept })
  const events = (await watch.take(3)).map(({ type, object }) => {
    const { columnDefinitions, rows } = object as unknown as {
      columnDefinitions: unknown[] | null
      rows: { object: { metadata: Metadata } }[]
    }
    return { type, columns: columnDefinitions?.length ?? 0, metadata: rows[0]?.object.metadata }
  })
  expect(events.map(({ type, columns }) => [type, columns > 0])).toEqual([
    ['ADDED', true],
    ['ADDED', false],
    ['BOOKMARK', false],
  ])
  expect(events.at(-1)?.metadata?.annotations).toEqual({ [endsWith]: 'true' })
})

test('READ-13: a list of many megabytes is written in pieces, with the bytes of the single objects', async () => {
  const path = configMapsIn(await aNamespace(server.api))
  const texts: string[] = []
  for (let number = 0; number < 8; number++) {
    const name = `c${number}`
    await created(server.api, path, configMap({ name, data: { x: 'v'.repeat(500_000) } }))
    texts.push((await server.api.get(`${path}/${name}`)).text.trimEnd())
  }
  const { text, headers, body } = await server.api.get(path)
  expect(headers['content-length']).toBeUndefined()
  const front = `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"${body.metadata.resourceVersion}"},"items":[`
  expect(text.trimEnd() === `${front}${texts.join(',')}]}`).toBe(true)
})
