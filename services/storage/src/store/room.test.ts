import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from 'lmdb'
import { afterAll, expect, test } from 'vitest'
import { openTables } from './lmdb-store.ts'
import { pagesNeeded } from './room.ts'
import type { Batch, LogEntry } from './tables.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Random numbers in [0, 1); the seed determines them. */
function aRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Batches as a store makes them: puts and deletes of few or many keys, large and small, and sweeps of the replaced values. */
function* someBatches(seed: number, count: number): Iterable<Batch> {
  const random = aRandom(seed)
  const whole = (below: number) => Math.floor(random() * below)
  const current = new Map<string, number>()
  let replaced: number[] = []
  let revision = 1
  const sizes = [10, 300, 1_000, 2_000, 2_100, 5_000, 16_384, 100_000]
  for (let number = 0; number < count; number++) {
    if (replaced.length > 0 && random() < 0.2) {
      const removed = replaced.slice(0, 1 + whole(2_000))
      replaced = replaced.slice(removed.length)
      yield { appended: [], removed, meta: { swept: revision }, purpose: 'sweep' }
      continue
    }
    const keys = 10 ** (1 + whole(4))
    const length = sizes[whole(sizes.length)]!
    const appended: LogEntry[] = []
    for (let entries = 1 + whole(random() < 0.1 ? (length > 5_000 ? 40 : 500) : 5); entries > 0; entries--) {
      const key = `objects/${'n'.repeat((whole(keys) * 7) % (random() < 0.1 ? 1_100 : 90))}/${whole(keys)}`
      const replaces = current.get(key) ?? 0
      if (replaces !== 0) replaced.push(replaces)
      const value = replaces !== 0 && random() < 0.3 ? undefined : new Uint8Array(length)
      revision++
      if (value === undefined) current.delete(key)
      else current.set(key, revision)
      appended.push({ revision, previous: revision - 1, replaces, key, writeId: 'w', value })
    }
    yield { appended, removed: [], meta: { revision }, purpose: 'put' }
  }
}

test.each([1, 2, 3])('no transaction takes more pages than counted for it (seed %i)', async (seed) => {
  const directory = mkdtempSync(join(tmpdir(), 'room-test-'))
  folders.push(directory)
  const tables = await openTables({ open, directory, profile: 'orch', unsafeNoSync: true, epoch: 'e' })
  for (const batch of someBatches(seed, 400)) {
    const before = tables.measure()
    const needed = pagesNeeded(batch, before)
    await tables.write(batch)
    const taken = tables.measure().usedPages - before.usedPages
    expect({ taken, enough: taken <= needed, needed }).toMatchObject({ enough: true })
  }
  await tables.close()
})

test('the page count of a batch follows from its entries, the changed trees and the free pages', () => {
  const tree = { depth: 3, branchPages: 40, leafPages: 2_000, overflowPages: 500 }
  const shape = { pageSize: 4096, log: tree, latest: tree, free: { ...tree, branchPages: 400, leafPages: 612 }, freePages: 4_000 }
  const put = (length: number): LogEntry => {
    return { revision: 5, previous: 4, replaces: 0, key: 'k', writeId: 'w', value: new Uint8Array(length) }
  }
  const puts = (count: number, length: number) => Array.from({ length: count }, () => put(length))
  const needed = (appended: LogEntry[], removed: number[] = [], more: object = {}) =>
    pagesNeeded({ appended, removed }, { ...shape, ...more })
  const small = { ...tree, depth: 1, branchPages: 0, leafPages: 1 }
  expect({
    nothing: needed([]),
    noFreePages: needed([], [], { freePages: 0 }),
    onePut: needed(puts(1, 100)),
    oneLarge: needed(puts(1, 100_000)),
    manyPuts: needed(puts(3_000, 1_000)),
    manyPutsInAFewPages: needed(puts(3_000, 10), [], { latest: small }),
    oneRemoval: needed([], [7]),
    manyRemovals: needed(
      [],
      Array.from({ length: 3_000 }, (_, index) => index),
    ),
  }).toEqual({
    nothing: 1_061,
    noFreePages: 1_049,
    onePut: 1_073,
    oneLarge: 1_099,
    manyPuts: 7_916,
    manyPutsInAFewPages: 1_225,
    oneRemoval: 1_072,
    manyRemovals: 3_114,
  })
})
