import { aPut, listed, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createStorage } from './service.ts'
import { createMemoryStore } from './store/memory-store.ts'

const [a, b] = [aPut({ name: 'a' }), aPut({ name: 'b' })]
const garbage = new TextEncoder().encode('garbage')

/** A store with the objects a and b, and a storage over it. */
async function open() {
  const store = createMemoryStore()
  const errors: string[] = []
  const start = async () => {
    const storage = await createStorage({ store, onError: (error) => errors.push(String(error)) })
    onTestFinished(() => storage.close())
    return storage
  }
  const storage = await start()
  const revision = await written(storage, a)
  await written(storage, b)
  const spoil = () => store.commit({ key: a.key, expected: revision, conditions: [], writeId: 'other', value: garbage })
  return { store, storage, start, spoil, revision, errors }
}

const unreadable = { status: { code: 500, message: expect.stringContaining(`StorageError: corrupt object: ${a.key} cannot be decoded: `) } }
const latest = { kind: 'latest' } as const

test.each(['by another writer meanwhile', 'before the start'])(
  'READ-22: a value that cannot be decoded, put there %s, affects no other object',
  async (when) => {
    const { storage, start, spoil, errors } = await open()
    await spoil()
    const seen = when === 'before the start' ? await start() : storage
    await expect(seen.get({ key: a.key, read: latest })).rejects.toMatchObject(unreadable)
    await expect(listed(seen)).rejects.toMatchObject({ status: { code: 500, reason: 'StorageReadError' } })
    expect((await seen.get({ key: b.key, read: latest })).entry).toMatchObject({ key: b.key })
    expect(errors).toContainEqual(expect.stringContaining(`${a.key} cannot be decoded`))
    const removed = await seen.commit({ key: a.key, expected: 0, conditions: [], writeId: 'r', removesUnreadable: true })
    expect(removed.kind).toBe('written')
    expect((await listed(seen)).names).toEqual(['b'])
  },
)

test('READ-22: a write that removes an unreadable object removes nothing else', async () => {
  const { storage } = await open()
  for (const key of [a.key, 'core/configmaps/default/none']) {
    expect(await storage.commit({ key, expected: 0, conditions: [], writeId: key, removesUnreadable: true })).toEqual({ kind: 'stale' })
  }
  expect((await listed(storage)).names).toEqual(['a', 'b'])
})

test('READ-22: an object that has become unreadable is deleted in streams of changes', async () => {
  const { storage, spoil, revision } = await open()
  await spoil()
  const stream = storage.changes({ after: revision + 1, epoch: '', resources: [] })
  for await (const part of stream) {
    stream.close()
    expect(part).toMatchObject({ kind: 'changes', changes: [{ key: a.key, before: { revision } }] })
    expect(part.kind === 'changes' && part.changes[0]?.after).toBeUndefined()
  }
})

test('STORE-04: a start without the encryption configuration that a value needs is refused with a sentence', async () => {
  const { store, start, revision } = await open()
  const encrypted = a.value?.with(1, 1)
  await store.commit({ key: a.key, expected: revision, conditions: [], writeId: 'other', value: encrypted })
  await expect(start()).rejects.toThrow(
    `${a.key} is stored encrypted, and nothing here decrypts it: start with the configuration that it was written with`,
  )
})
