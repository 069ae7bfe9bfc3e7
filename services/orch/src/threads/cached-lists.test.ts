import type { Entry, ListPart, ListRequest, StorageService } from '@orch/core/contracts'
import { PushStream } from '@orch/platform'
import { expect, test } from 'vitest'
import { createKnownLists, type KnownListsService, withKnownLists } from './cached-reads.ts'

const entryOf = (name: string, revision: number, text = `${name} at ${revision}`): Entry => ({
  key: `core/pods/default/${name}`,
  revision,
  value: Buffer.from(text),
  metadataStart: 0,
  metadataEnd: 0,
  writeId: 'w',
})
const request: ListRequest = {
  scope: { resource: 'core/pods' },
  selection: { labels: [], fields: [] },
  read: { kind: 'latest' },
  limit: 0,
  start: '',
  layout: 'entries',
}

/** A thread over storage with these objects; `crossed` has the revisions of objects whose bytes were sent. */
function aThread(bytesMax?: number) {
  const state = {
    entries: [] as Entry[],
    epoch: 'e',
    crossed: [] as number[],
    isClosed: false,
    lists: 0,
    together: 1,
    named: undefined as readonly number[] | undefined,
  }
  const list = () => {
    const parts = new PushStream<ListPart>({ onClose: () => (state.isClosed = true) })
    parts.push({ kind: 'head', revision: 9, epoch: state.epoch })
    for (let at = 0; at < state.entries.length; at += state.together) {
      parts.push({ kind: 'entries', entries: state.entries.slice(at, at + state.together) })
    }
    parts.push({ kind: 'entries', entries: [] })
    state.lists += 1
    parts.end()
    return parts
  }
  const whole = createKnownLists({ list })
  const lists: KnownListsService = {
    list(message, context) {
      state.named = message.known
      const parts = whole.list(message, context)
      async function* seen() {
        for await (const one of parts) {
          if (one.part.kind === 'entries') state.crossed.push(...one.part.entries.map(({ revision }) => revision))
          yield one
        }
      }
      return Object.assign(seen(), { close: () => parts.close() })
    },
  }
  const storage = withKnownLists({ list } as unknown as StorageService, lists, bytesMax)
  /** The result of a list, the number of cached objects in it, and the objects that were sent for it. */
  const readAndSent = async (more: Partial<ListRequest> = {}) => {
    state.crossed = []
    const texts: string[] = []
    for await (const part of storage.list({ ...request, ...more })) {
      if (part.kind === 'entries') texts.push(...part.entries.map(({ value }) => Buffer.from(value).toString()))
      if (part.kind === 'chunk') texts.push(`joined: ${Buffer.from(part.bytes)}`)
    }
    return { texts, sent: state.crossed }
  }
  return { state, storage, readAndSent }
}

test('an object of a list is transferred once until it is replaced, and the list keeps its order', async () => {
  const { state, readAndSent } = aThread()
  state.entries = [entryOf('a', 1), entryOf('b', 2), entryOf('c', 3)]
  expect(await readAndSent()).toEqual({ texts: ['a at 1', 'b at 2', 'c at 3'], sent: [1, 2, 3] })
  expect(await readAndSent()).toEqual({ texts: ['a at 1', 'b at 2', 'c at 3'], sent: [] })
  state.entries = [entryOf('a', 1), entryOf('b', 4), entryOf('bb', 5)]
  expect(await readAndSent()).toEqual({ texts: ['a at 1', 'b at 4', 'bb at 5'], sent: [4, 5] })
})

test('objects of another epoch are different, even with equal revisions', async () => {
  const { state, readAndSent } = aThread()
  state.entries = [entryOf('a', 1)]
  await readAndSent()
  state.epoch = 'f'
  state.entries = [entryOf('a', 1, 'another')]
  expect(await readAndSent()).toEqual({ texts: ['another'], sent: [1] })
  expect(await readAndSent()).toEqual({ texts: ['another'], sent: [] })
})

test('joined objects are sent with commas between them, and objects of another schema one by one', async () => {
  const { state, readAndSent } = aThread()
  state.together = 2
  state.entries = [entryOf('a', 1), entryOf('b', 2), { ...entryOf('c', 3), fingerprint: 7 }, entryOf('d', 4)]
  const texts = ['joined: a at 1,b at 2', 'joined: c at 3,d at 4']
  for (const sent of [[1, 2, 3, 4], []]) expect(await readAndSent({ layout: 'joined' })).toEqual({ texts, sent })
  state.entries = [0, 1, 2, 3].map((index) => ({ ...entryOf('abcd'[index] ?? '', index + 5), fingerprint: index === 2 ? 7 : 1 }))
  const mixed = ['joined: a at 5,b at 6', 'c at 7', 'd at 8']
  for (const sent of [[5, 6, 7, 8], []]) expect(await readAndSent({ layout: 'joined', fingerprint: 1 })).toEqual({ texts: mixed, sent })
})

test('the part of a list beyond the cache is transferred each time, and a whole list in the joined form of storage', async () => {
  const { state, readAndSent } = aThread(1_000)
  state.entries = Array.from({ length: 8 }, (_, index) => entryOf(`o${index}`, index + 1, `${index}`.repeat(300)))
  const { texts, sent } = await readAndSent()
  expect([texts.length, sent]).toEqual([8, [1, 2, 3, 4, 5, 6, 7, 8]])
  expect(await readAndSent()).toEqual({ texts, sent: [4, 5, 6, 7, 8] })
  // This is how the test's storage returns them; they are not sent as objects.
  expect(await readAndSent({ layout: 'joined' })).toEqual({ texts, sent: [] })
})

test('the least recently used entry is dropped first', async () => {
  const { state, readAndSent } = aThread(2_000)
  const read = async (revision: number) => {
    state.entries = [entryOf(`o${revision}`, revision, 'x'.repeat(900))]
    return (await readAndSent()).sent
  }
  expect([await read(1), await read(2), await read(1), await read(3)]).toEqual([[1], [2], [], [3]])
  expect([await read(1), await read(2)]).toEqual([[], [2]])
})

test('a request for few of many objects does not name the cached objects', async () => {
  const { state, readAndSent } = aThread()
  state.entries = Array.from({ length: 9 }, (_, index) => entryOf(`o${index}`, index + 1))
  await readAndSent()
  const selection = { labels: [{ key: 'a', operator: 'Exists' as const, values: [] }], fields: [] }
  const shards = { labels: [], fields: [], shards: [{ field: 'uid' as const, from: '00000000000000000', to: '08000000000000000' }] }
  const paged = { limit: 2 }
  for (const more of [{ selection }, { selection: shards }, paged]) {
    state.named = undefined
    await readAndSent(more)
    expect(state.named).toBeUndefined()
  }
  await readAndSent({ limit: 2, start: 'default/o6' })
  expect(state.named).toEqual([7, 8, 9])
  await readAndSent({ scope: { resource: 'core/pods', namespace: 'other' } })
  expect(state.named).toEqual([])
})

test('a reader that leaves closes the list', async () => {
  const { state, storage } = aThread()
  state.entries = [entryOf('a', 1), entryOf('b', 2)]
  for await (const part of storage.list(request)) {
    expect(part.kind).toBe('head')
    break
  }
  expect(state.isClosed).toBe(true)
})
