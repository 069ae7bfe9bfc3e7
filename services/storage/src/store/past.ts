import type { Revision } from '@orch/core/meta'
import { DamagedStoreError } from './data-folder.ts'
import { DamageError } from './lmdb-file.ts'
import type { KeySpan, Latest, LogEntry, Meta, Tables, WrittenEntry } from './tables.ts'

/** A part of the past: the writes after a revision, which is not below the compacted revision, up to the store's revision. */
export interface PastSpan {
  readonly after: Revision
  readonly upTo: Revision
}

/**
 * The keys of a span and their revisions, at a revision: the index of latest with newer entries undone.
 *
 *   latest {a: 5, c: 7}   log after 4: 5 puts a (replaces 2), 6 deletes b (replaces 3), 7 puts c (replaces 0)
 *   at 4: {a: 2, b: 3}
 */
export function statesAt(tables: Tables, span: KeySpan, { after, upTo }: PastSpan): Iterable<Latest> {
  const undone = new Map<string, Revision>()
  for (const { key, replaces } of wholePast(tables, { after, upTo })) {
    if (key.startsWith(span.prefix) && key >= span.start && !undone.has(key)) undone.set(key, replaces)
  }
  return undone.size === 0 ? tables.keys(span) : merge(tables.keys(span), undone)
}

function merge(latest: Iterable<Latest>, undone: ReadonlyMap<string, Revision>): Latest[] {
  const states: Latest[] = []
  for (const state of latest) if (!undone.has(state.key)) states.push(state)
  for (const [key, revision] of undone) if (revision !== 0) states.push({ key, revision })
  return states.sort((a, b) => (a.key < b.key ? -1 : 1))
}

/**
 * The entries of the log after a revision; the last few may be above the store's revision. Throws a DamageError if an entry is missing, since each
 * names its predecessor.
 */
export function* wholePast(tables: Tables, { after, upTo }: PastSpan): Generator<WrittenEntry, void, undefined> {
  let last = after
  for (const entry of tables.entries(after)) {
    if (!follows(entry, last, after)) throw missing(entry.previous)
    yield entry
    last = entry.revision
  }
  if (last < upTo) throw missing(upTo)
}

/** Damage to a log. */
export interface Damage {
  /** All changes after this revision are readable, with the objects before them. */
  readonly shownAfter: Revision
  /** The index of latest names a damaged entry. */
  readonly isOfPresent: boolean
}

/** Checks a log from the swept revision on after damage to it was found. */
export function findDamage(tables: Tables, { swept, compacted, revision: upTo }: Pick<Meta, 'swept' | 'compacted' | 'revision'>): Damage {
  const damaged = new Set<Revision>()
  const sound = (revision: Revision): LogEntry | undefined => {
    const entry = tryEntry(tables, revision)
    if (entry === undefined) damaged.add(revision)
    return entry
  }
  let shownAfter = compacted
  let last = compacted
  for (const revision of tables.revisions(Math.min(swept, compacted))) {
    if (revision > upTo) continue
    const entry = sound(revision)
    if (revision <= compacted) continue
    if (entry === undefined || (entry.replaces !== 0 && sound(entry.replaces) === undefined)) shownAfter = revision
    else if (!follows(entry, last, compacted)) shownAfter = Math.max(shownAfter, entry.previous)
    last = revision
  }
  return { shownAfter: last < upTo ? upTo : shownAfter, isOfPresent: namesOne(tables, damaged) }
}

/** True if no entry is missing between an entry and the last seen entry after a revision. */
function follows({ previous }: LogEntry, last: Revision, after: Revision): boolean {
  return last === after ? previous <= after : previous === last
}

/** Revisions of a log up to the compacted one that no later state needs. */
export function unreferenced(
  tables: Tables,
  { compacted, revision: upTo }: Pick<Meta, 'compacted' | 'revision'>,
  limit: number,
): Revision[] {
  const held = new Set<Revision>()
  for (const { revision } of statesAt(tables, { prefix: '', start: '' }, { after: compacted, upTo })) held.add(revision)
  const found: Revision[] = []
  for (const revision of tables.revisions(0)) {
    if (revision > compacted || found.length === limit) break
    if (!held.has(revision)) found.push(revision)
  }
  return found
}

/** Undefined if the entry is missing or damaged. */
function tryEntry(tables: Tables, revision: Revision): LogEntry | undefined {
  try {
    return tables.entry(revision)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

function namesOne(tables: Tables, revisions: ReadonlySet<Revision>): boolean {
  if (revisions.size === 0) return false
  for (const { revision } of tables.keys({ prefix: '', start: '' })) if (revisions.has(revision)) return true
  return false
}

/** True for an error of a damaged log. */
export function isDamage(error: unknown): error is Error {
  return error instanceof DamagedStoreError || error instanceof DamageError
}

function missing(revision: Revision): DamageError {
  return new DamageError(`what was written at revision ${revision} is missing`)
}
