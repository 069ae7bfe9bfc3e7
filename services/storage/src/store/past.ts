import type { Revision } from '@orch/core/meta'
import type { KeySpan, Latest, Tables } from './tables.ts'

/**
 * The keys of a span and their revisions, as they were at a revision: the index of latest with newer entries undone.
 *
 *   latest {a: 5, c: 7}   log after 4: 5 puts a (replaces 2), 6 deletes b (replaces 3), 7 puts c (replaces 0)
 *   at 4: {a: 2, b: 3}
 */
export function statesAt(tables: Tables, span: KeySpan, revision: Revision): Iterable<Latest> {
  const undone = new Map<string, Revision>()
  for (const { key, replaces } of tables.entries(revision)) {
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
