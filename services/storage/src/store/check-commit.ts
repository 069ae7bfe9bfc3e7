import type { StoreCommit, StoreOutcome } from '@orch/core/contracts'
import type { Revision } from '@orch/core/meta'

/** Why a commit may not be written; undefined where it may. */
export function checkCommit(
  commit: StoreCommit,
  revisionOf: (key: string) => Revision,
): Exclude<StoreOutcome, { kind: 'written' }> | undefined {
  if (commit.isLate?.()) return { kind: 'late' }
  if (revisionOf(commit.key) !== commit.expected) return { kind: 'stale' }
  const index = commit.conditions.findIndex(({ key, revision }) => revisionOf(key) !== revision)
  if (index !== -1) return { kind: 'unmet', index }
  // Deleting what is absent would be a change of nothing.
  if (commit.value === undefined && commit.expected === 0) return { kind: 'stale' }
  return undefined
}
