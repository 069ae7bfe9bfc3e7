import type { Store, StoreRecord } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'
import { openLmdbStore } from '../../services/storage/src/index.ts'

/** A store's answers about its latest state, one text per object. */
export type State = readonly string[]

/** Writes a store with branch pages, large values, deletions and free pages; returns its state. */
export async function writeSampleStore(directory: string): Promise<State> {
  const store = await openLmdbStore({ directory, profile: 'orch', unsafeNoSync: true })
  const revisions = new Map<string, number>()
  const write = async (key: string, bytes: number | undefined) => {
    const expected = revisions.get(key) ?? 0
    const value = bytes === undefined ? undefined : new Uint8Array(bytes).fill(key.length)
    const outcome = await store.commit({ key, expected, conditions: [], value, writeId: `w${expected}` })
    if (outcome.kind === 'written') revisions.set(key, value === undefined ? 0 : outcome.revision)
  }
  const key = (number: number) => `objects/${'x'.repeat(number % 120)}/${number}`
  await Promise.all(Array.from({ length: 500 }, (_, number) => write(key(number), 50 + ((number * 37) % 1_500))))
  await Promise.all(Array.from({ length: 20 }, (_, number) => write(`large/${number}`, 5_000 * number)))
  for (let round = 0; round < 12; round++) {
    await Promise.all(Array.from({ length: 40 }, (_, number) => write(key(number * 3), round % 3 === 0 ? undefined : 300)))
    if (round === 3 || round === 5) await store.compact(store.status().revision)
  }
  // Most of the file belongs to the history.
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 30 }, (_, number) => write(`past/${number}`, 3_000 + round)))
  const state = await readState(store)
  await store.close()
  return state
}

/** The changes after a revision as followers read them, one text each; `forgotten` if the store has compacted the revision. */
export async function readChanges(store: Store, after: Revision): Promise<State | 'forgotten'> {
  const changes: string[] = []
  for (let last = after; last < store.status().revision; ) {
    const read = await store.history(last, 50).catch((error: unknown) => {
      if (after >= store.status().compacted) throw error
    })
    if (read === undefined || read.kind === 'compacted') return 'forgotten'
    for (const { key, revision, replaces, value } of read.changes) {
      const before = replaces === 0 ? undefined : (await store.recordAt(key, replaces))?.value
      changes.push(`${key}@${revision} ${textOf(value)} was ${textOf(before)}`)
    }
    last = read.changes.at(-1)?.revision ?? Number.POSITIVE_INFINITY
  }
  return changes
}

function textOf(value: Uint8Array | undefined): string {
  return value === undefined ? 'absent' : Buffer.from(value).toString('base64')
}

/** The state that a starting store reads. */
export async function readState(store: Store): Promise<State> {
  const state: string[] = []
  const show = ({ key, revision, value }: StoreRecord) => void state.push(`${key}@${revision} ${textOf(value)}`)
  await store.visit(show)
  return state
}
