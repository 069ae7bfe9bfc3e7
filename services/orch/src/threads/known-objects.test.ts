import type { GetResponse, StorageService } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import { withKnownObjects } from './known-objects.ts'
import { ObjectMarks } from './object-marks.ts'

const latest = { kind: 'latest' } as const

/** Storage that answers with the object as it is in `values`, and counts. */
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

test('an object is asked for once until it is replaced or deleted', async () => {
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

test('a change between the question and the answer is seen by the next read', async () => {
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

test('an object that is absent, or to be stored again, is asked for each time', async () => {
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

test('a read at a revision is asked for each time', async () => {
  const { asked, storage } = aStorage(new Map([['pods/a', 'one']]))
  for (let index = 0; index < 2; index += 1) await storage.get({ key: 'pods/a', read: { kind: 'exact', revision: 1, asked: '1' } })
  expect(asked).toHaveLength(2)
})

test('what is kept is bounded: the first that was read is asked for again', async () => {
  const names = ['pods/a', 'pods/b', 'pods/c']
  const values = new Map(names.map((name) => [name, 'x'.repeat(100)]))
  const { asked, read } = aStorage(values, { bytesMax: 250 })
  for (const name of [...names, 'pods/c', 'pods/b', 'pods/a']) await read(name)
  expect(asked).toEqual([...names, 'pods/a'])
})
