import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { storeSuite } from '@orch/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { lockDirectory } from './directory-lock.ts'
import { openLmdbStore } from './lmdb-store.ts'
import { createMemoryStore } from './memory-store.ts'

const folders: string[] = []
function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-test-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

storeSuite('memory', async () => createMemoryStore())
storeSuite('lmdb', async () => openLmdbStore({ directory: aFolder(), profile: 'orch' }))

const aPut = (key: string, expected = 0) => ({ key, expected, conditions: [], writeId: key, value: new TextEncoder().encode(key) })

describe('a store on disk', () => {
  test('STORE-04: state, revision, epoch and history survive a restart', async () => {
    const directory = aFolder()
    const first = await openLmdbStore({ directory, profile: 'orch' })
    await first.commit(aPut('a/x'))
    await first.commit(aPut('a/y'))
    await first.compact(first.status().revision - 1)
    const before = first.status()
    await first.close()
    const second = await openLmdbStore({ directory, profile: 'orch' })
    expect(second.status()).toMatchObject({ epoch: before.epoch, revision: before.revision, compacted: before.compacted })
    expect((await second.range({ prefix: '', start: '', limit: 0, revision: before.revision })).records.map(({ key }) => key)).toEqual([
      'a/x',
      'a/y',
    ])
    const outcome = await second.commit(aPut('a/z'))
    expect(outcome).toEqual({ kind: 'written', revision: before.revision + 1 })
    await second.close()
  })

  test('refuses to open under another profile with both names, and the data stays usable', async () => {
    const directory = aFolder()
    await (await openLmdbStore({ directory, profile: 'orch' })).close()
    await expect(openLmdbStore({ directory, profile: 'kubernetes' })).rejects.toThrow(/'orch'.*'kubernetes'/)
    const again = await openLmdbStore({ directory, profile: 'orch' })
    expect((await again.commit(aPut('a'))).kind).toBe('written')
    await again.close()
  })
})

describe('the lock of a data directory', () => {
  test('refuses a second owner with the pid and address of the first', () => {
    const directory = aFolder()
    const lock = lockDirectory(directory)
    expect(() => lockDirectory(directory)).toThrow(`in use by process ${process.pid}`)
    lock.announce('https://127.0.0.1:6443')
    expect(() => lockDirectory(directory)).toThrow('https://127.0.0.1:6443')
    lock.release()
    lockDirectory(directory).release()
  })

  test('is held after its object is collected', async () => {
    const directory = aFolder()
    const lock = new WeakRef(lockDirectory(directory))
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    // A WeakRef keeps its target until the end of the turn that created it, and native objects are freed one collection after their owner.
    for (let turn = 0; turn < 2; turn += 1) {
      await setImmediate()
      collect()
    }
    expect(lock.deref()).toBeUndefined()
    expect(() => lockDirectory(directory)).toThrow(`in use by process ${process.pid}`)
  })

  test('reports a lock file that cannot be opened, and names no other owner', () => {
    const directory = aFolder()
    mkdirSync(join(directory, 'lock'))
    expect(() => lockDirectory(directory)).toThrow(`${join(directory, 'lock')}: unable to open database file`)
  })
})

test('pages that a compaction freed are reported as free and reused', async () => {
  const directory = aFolder()
  const store = await openLmdbStore({ directory, profile: 'orch' })
  const value = new Uint8Array(3_000)
  let expected = 0
  const rewrite = async (times: number) => {
    for (let time = 0; time < times; time++) {
      const outcome = await store.commit({ key: 'a', expected, conditions: [], writeId: 'w', value })
      if (outcome.kind === 'written') expected = outcome.revision
    }
    return store.status()
  }
  const full = await rewrite(200)
  await store.compact(full.revision)
  const swept = await rewrite(1)
  expect(swept.freeBytes).toBeGreaterThan(full.bytes / 2)
  const again = await rewrite(100)
  expect(again.bytes).toBeLessThan(full.bytes * 1.2)
  await store.close()
})
