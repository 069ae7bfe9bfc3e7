import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { runAtOnce } from '../steps.ts'
import { equalSets } from './field-set.ts'
import { parseOwners } from './ownership.ts'

/** True if two lists of entries are equal except for their times. A write that would change only times is skipped. */
export function sameOwners(left: readonly ManagedFieldsEntry[], right: readonly ManagedFieldsEntry[]): boolean {
  const ours = runAtOnce(parseOwners(left))
  const theirs = runAtOnce(parseOwners(right))
  if (ours === undefined || theirs === undefined || ours.size !== theirs.size) return false
  return [...ours].every(([identity, { apiVersion, set }]) => {
    const other = theirs.get(identity)
    return other !== undefined && other.apiVersion === apiVersion && equalSets(set, other.set)
  })
}
