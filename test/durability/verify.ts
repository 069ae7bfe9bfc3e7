import type { Store, StoreChange } from '@orch/core/contracts'
import { createStorage, openLmdbStore } from '../../services/storage/src/index.ts'
import type { Acknowledged } from './start-writer.ts'

/** The expected contents of a data directory. */
export interface Known {
  readonly directory: string
  readonly acknowledged: readonly Acknowledged[]
  /** The numbers of the refused writes. */
  readonly refused: readonly number[]
  /** Earlier checks covered the changes up to this revision. */
  readonly after: number
  /** The state at that revision: key → revision. The check updates it. */
  readonly state: Map<string, number>
}

/** Opens a directory after its writer has ended; returns all faults. */
export async function findFaults({
  directory,
  acknowledged,
  refused,
  after,
  state,
}: Known): Promise<{ faults: string[]; revision: number }> {
  const store = await openLmdbStore({ directory, profile: 'orch' })
  const { revision } = store.status()
  const found = await historyOf(store, after)
  const changes = found ?? []
  const { records } = await store.range({ prefix: '', start: '', limit: 0, revision })
  const faults = [
    ...(found === undefined ? ['history is gone'] : []),
    ...orderFaults(changes, after),
    ...acknowledgedFaults(changes, acknowledged),
    ...refusedFaults(changes, refused),
    ...replayFaults(changes, state),
    ...stateFaults(state, new Map(records.map((record) => [record.key, record.revision]))),
  ]
  const storage = await createStorage({ store })
  faults.push(...(await serviceFaults(storage, after, changes)))
  storage.close()
  await store.close()
  return { faults, revision }
}

/** All changes after a revision, which the store gives in parts; undefined if it has forgotten some. */
async function historyOf(store: Pick<Store, 'history' | 'status'>, after: number): Promise<StoreChange[] | undefined> {
  const changes: StoreChange[] = []
  for (let last = after; last < store.status().revision; ) {
    const read = await store.history(last, 1_000)
    if (read.kind === 'compacted') return undefined
    changes.push(...read.changes)
    last = read.changes.at(-1)?.revision ?? Number.POSITIVE_INFINITY
  }
  return changes
}

/** Revisions increase, no revision repeats, and each change names its predecessor. */
function orderFaults(changes: readonly StoreChange[], after: number): string[] {
  const faults: string[] = []
  let last = after
  for (const { revision, previous } of changes) {
    if (revision <= last) faults.push(`revision ${revision} after ${last}`)
    if (previous !== last) faults.push(`revision ${revision} follows ${last} and says that it follows ${previous}`)
    last = revision
  }
  return faults
}

function acknowledgedFaults(changes: readonly StoreChange[], acknowledged: readonly Acknowledged[]): string[] {
  const byRevision = new Map(changes.map((change) => [change.revision, change]))
  const faults: string[] = []
  for (const { number, revision, key, kind } of acknowledged) {
    const change = byRevision.get(revision)
    if (change === undefined) faults.push(`the acknowledged write ${number} at ${revision} is lost`)
    else if (change.key !== key || change.writeId !== `write-${number}` || (change.value === undefined) !== (kind === 'delete')) {
      faults.push(`at ${revision} stands ${change.writeId} of ${change.key}, acknowledged was write-${number} of ${key}`)
    }
  }
  if (new Set(acknowledged.map(({ revision }) => revision)).size !== acknowledged.length)
    faults.push('two acknowledged writes share a revision')
  return faults
}

function refusedFaults(changes: readonly StoreChange[], refused: readonly number[]): string[] {
  const ids = new Set(refused.map((number) => `write-${number}`))
  return changes.filter(({ writeId }) => ids.has(writeId)).map(({ writeId }) => `${writeId} was refused and is there`)
}

/** Applies the changes to the state, each to its named predecessor. */
function replayFaults(changes: readonly StoreChange[], state: Map<string, number>): string[] {
  const faults: string[] = []
  for (const { key, revision, value, replaces } of changes) {
    if ((state.get(key) ?? 0) !== replaces)
      faults.push(`${revision} says that it replaces ${replaces} of ${key}, which is at ${state.get(key) ?? 0}`)
    if (value === undefined) state.delete(key)
    else state.set(key, revision)
  }
  return faults
}

function stateFaults(replayed: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>): string[] {
  const faults: string[] = []
  for (const [key, revision] of replayed)
    if (found.get(key) !== revision) faults.push(`${key} should be at ${revision}, it is at ${found.get(key) ?? 0}`)
  for (const key of found.keys()) if (!replayed.has(key)) faults.push(`${key} is there and was never written, or deleted`)
  return faults
}

/** The service's watch shows the same history as the log. */
async function serviceFaults(
  storage: Awaited<ReturnType<typeof createStorage>>,
  after: number,
  changes: readonly StoreChange[],
): Promise<string[]> {
  const told: number[] = []
  if (changes.length === 0) return []
  for await (const part of storage.changes({ after, epoch: '', resources: [] })) {
    if (part.kind === 'expired') return ['the watch is expired']
    if (part.kind === 'changes') told.push(...part.changes.map(({ revision }) => revision))
    if (told.length >= changes.length) break
  }
  return told.join() === changes.map(({ revision }) => revision).join() ? [] : ['the watch tells another history than the log']
}
