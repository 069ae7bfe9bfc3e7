import { aDelete, aPut, written } from '@orch/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createMemoryStore, createStorage } from './index.ts'

test.each([0, 1_000_000])(
  'replaced and deleted objects are reported before the commit is answered, and new objects are not; bytes of the past: %i',
  async (pastBytesMax) => {
    const store = createMemoryStore()
    const order: string[] = []
    const storage = await createStorage({ store, pastBytesMax, onSuperseded: (key) => void order.push(key) })
    onTestFinished(async () => {
      storage.close()
      await store.close()
    })
    const answered = async (revision: Promise<number>) => {
      order.push(`answered with ${await revision}`)
      return await revision
    }
    const { key } = aPut({ name: 'a' })
    const made = await answered(written(storage, aPut({ name: 'a' }, { expected: 0 })))
    const replaced = await answered(written(storage, aPut({ name: 'a' }, { expected: made })))
    const deleted = await answered(written(storage, aDelete(key, replaced)))
    expect(order).toEqual([`answered with ${made}`, key, `answered with ${replaced}`, key, `answered with ${deleted}`])
  },
)
