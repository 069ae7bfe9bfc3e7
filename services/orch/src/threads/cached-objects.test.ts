import type { GetResponse, StorageService } from '@orch/core/contracts'
import { encodeObject, encodeStored } from '@orch/core/stored'
import { createMemoryStore, createStorage } from '@orch/storage'
import { expect, onTestFinished, test } from 'vitest'
import { withKnownObjects } from './cached-reads.ts'
import { ObjectMarks } from './contracts.ts'

const latest = { kind: 'latest' } as const

/** Storage that answers with the objects of `values` and counts the calls. */
function aStorage(values: Map<string, string>, { isStale, bytesMax }: { isStale?: boolean; bytesMax?: number } = {}) {
  const asked: string[] = []
  let beforeAnswer = () => {}
  const get: StorageService['get'] = async ({ key }) => {
    asked.push(key)
    const value = values.get(key)
    const entry = { key, revision: 1, value: Buffer.from(value ?? ''), metadataStart: 0, metadataEnd: 0, writeId: 'w' }
    const answer: GetResponse = { revision: 1, epoch: 'e', ...(value === undefined ? {} : { entry }), ...(isStale ? { isStale } : {}) }
    beforeAnswer()
    return answer
  }
  const marks = new ObjectMarks()
  // The other thread has the same memory.
  const storage = withKnownObjects({ get } as StorageService, new ObjectMarks(marks.memory), bytesMax)
  const read = async (key: string, kind: 'latest' | 'any' = 'latest') => {
    const { entry } = await storage.get({ key, read: { kind } })
    return entry === undefined ? undefined : Buffer.from(entry.value).toString()
  }
  const meanwhile = (run: () => void) => {
    beforeAnswer = run
  }
  return { asked, marks, storage, read, meanwhile }
}

test('an object is requested once until it is replaced or deleted', async () => {
  const values = new Map([['pods/a', 'one']])
  const { asked, marks, read } = aStorage(values)
  expect([await read('pods/a'), await read('pods/a', 'any'), await read('pods/a')]).toEqual(['one', 'one', 'one'])
  expect(asked).toEqual(['pods/a'])
  values.set('pods/a', 'two')
  marks.count('pods/a')
  expect([await read('pods/a'), await read('pods/a')]).toEqual(['two', 'two'])
  values.delete('pods/a')
  marks.count('pods/a')
  expect(await read('pods/a')).toBeUndefined()
  expect(asked).toHaveLength(3)
})

test('a change between the request and the answer is seen by the next read', async () => {
  const values = new Map([['pods/a', 'one']])
  const { marks, read, meanwhile } = aStorage(values)
  meanwhile(() => {
    values.set('pods/a', 'two')
    marks.count('pods/a')
    meanwhile(() => {})
  })
  expect(await read('pods/a')).toBe('one')
  expect(await read('pods/a')).toBe('two')
})

test('an absent object, or an object that needs another encoding, is requested each time', async () => {
  const values = new Map<string, string>()
  const absent = aStorage(values)
  expect(await absent.read('pods/a')).toBeUndefined()
  values.set('pods/a', 'one')
  expect(await absent.read('pods/a')).toBe('one')
  const stale = aStorage(values, { isStale: true })
  await stale.read('pods/a')
  expect(await stale.storage.get({ key: 'pods/a', read: latest })).toMatchObject({ isStale: true })
  expect(stale.asked).toHaveLength(2)
})

test('a read at a revision is requested each time', async () => {
  const { asked, storage } = aStorage(new Map([['pods/a', 'one']]))
  for (let index = 0; index < 2; index += 1) await storage.get({ key: 'pods/a', read: { kind: 'exact', revision: 1, asked: '1' } })
  expect(asked).toHaveLength(2)
})

test('the cache is bounded: the oldest entry is requested again', async () => {
  const names = ['pods/a', 'pods/b', 'pods/c']
  const values = new Map(names.map((name) => [name, 'x'.repeat(100)]))
  const { asked, read } = aStorage(values, { bytesMax: 250 })
  for (const name of [...names, 'pods/c', 'pods/b', 'pods/a']) await read(name)
  expect(asked).toEqual([...names, 'pods/a'])
})

/** Storage of one object, whose commits increment its mark like the first thread; the thread has read the object. */
async function aStorageOfOne() {
  const marks = new ObjectMarks()
  const encode = (text: string) => {
    const metadata = { name: 'a', uid: 'u' }
    const encoded = encodeObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } })
    return encodeStored({ fingerprint: 3, writeId: `w-${text}`, expiresAtMs: 0, encoded, labels: {}, fields: {} })
  }
  const memory = createMemoryStore()
  const first = await createStorage({ store: memory, onSuperseded: (key) => marks.count(key) })
  onTestFinished(async () => {
    first.close()
    await memory.close()
  })
  const key = 'core/configmaps/default/a'
  const commitTo = async (storage: Pick<StorageService, 'commit'>, text: string, expected: number) => {
    const outcome = await storage.commit({ key, expected, conditions: [], value: encode(text), writeId: `w-${text}` })
    return outcome.kind === 'written' ? outcome.revision : outcome.kind
  }
  let asked = 0
  let afterCommit = async () => {}
  const counted: StorageService = {
    ...first,
    get(request, context) {
      asked += 1
      return first.get(request, context)
    },
    async commit(request, context) {
      const outcome = await first.commit(request, context)
      await afterCommit()
      return outcome
    },
  }
  const beside = withKnownObjects(counted, new ObjectMarks(marks.memory))
  return {
    first,
    beside,
    key,
    commitTo,
    commit: (text: string, expected: number) => commitTo(beside, text, expected),
    read: () => beside.get({ key, read: latest }),
    asked: () => asked,
    meanwhile(run: () => Promise<unknown>) {
      afterCommit = async () => {
        afterCommit = async () => {}
        await run()
      }
    },
  }
}

test('an object that this thread has changed is not requested again, and equals the answer of storage', async () => {
  const { first, key, commit, read, asked } = await aStorageOfOne()
  const made = await commit('one', 0)
  await read()
  const changed = await commit('two', Number(made))
  await commit('three', Number(changed))
  const known = await read()
  expect(asked()).toBe(1)
  const { entry, ...answer } = await first.get({ key, read: latest })
  expect(known).toEqual({ ...answer, entry: { ...entry, value: new Uint8Array(entry?.value ?? []) } })
})

test('a change right after a change by this thread is seen by the next read', async () => {
  const { first, commit, commitTo, read, asked, meanwhile } = await aStorageOfOne()
  await read()
  const made = await commit('one', 0)
  await read()
  meanwhile(() => commitTo(first, 'other', Number(made) + 1))
  await commit('two', Number(made))
  expect(String((await read()).entry?.value)).toContain('"text":"other"')
  expect(asked()).toBe(3)
})

test('a refused commit, a deletion, and a change of an uncached object leave no entry', async () => {
  const { beside, key, commit, read, asked } = await aStorageOfOne()
  const made = Number(await commit('one', 0))
  await read()
  expect(await commit('two', made + 1)).toBe('stale')
  await read()
  expect(asked()).toBe(1)
  await beside.commit({ key, expected: made, conditions: [], writeId: 'gone' })
  expect((await read()).entry).toBeUndefined()
  expect(asked()).toBe(2)
  await commit('again', 0)
  expect((await read()).entry?.writeId).toBe('w-again')
  expect(asked()).toBe(3)
})
