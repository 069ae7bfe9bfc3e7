/** One condition of a Namespace. */
export interface NamespaceCondition {
  type: string
  status: 'True' | 'False'
  lastTransitionTime: string
  reason: string
  message: string
}

/** What one attempt to empty a namespace came to. */
export interface ContentReport {
  /** Why the resources could not be discovered. */
  undiscovered: string | undefined
  /** What could not be deleted, and why. */
  failures: string[]
  /** Objects left, by resource. */
  remaining: Map<string, number>
  /** Objects left, by the finalizer that they wait for. */
  finalizers: Map<string, number>
}

interface Verdict {
  readonly type: string
  /** Absent: nothing is wrong. */
  readonly problem: string | undefined
  readonly reason: { readonly bad: string; readonly good: string }
  readonly good: string
}

/**
 * The conditions of a namespace after an attempt to empty it; those of other writers are kept. The same list is given
 * back when nothing has changed.
 */
export function namespaceConditions(before: NamespaceCondition[], report: ContentReport, nowMs: number): NamespaceCondition[] {
  const time = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  let isChanged = false
  const next = [...before]
  for (const verdict of verdicts(report)) {
    const index = next.findIndex(({ type }) => type === verdict.type)
    const condition = toCondition(verdict, next[index], time)
    if (condition === next[index]) continue
    isChanged = true
    if (index < 0) next.push(condition)
    else next[index] = condition
  }
  return isChanged ? next : before
}

function toCondition({ type, problem, reason, good }: Verdict, before: NamespaceCondition | undefined, time: string): NamespaceCondition {
  const status = problem === undefined ? 'False' : 'True'
  const message = problem ?? good
  if (before?.status === status && before.message === message) return before
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time
  return { type, status, lastTransitionTime, reason: problem === undefined ? reason.good : reason.bad, message }
}

function verdicts({ undiscovered, failures, remaining, finalizers }: ContentReport): Verdict[] {
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      problem: undiscovered === undefined ? undefined : `Discovery failed: ${undiscovered}`,
      reason: { bad: 'DiscoveryFailed', good: 'ResourcesDiscovered' },
      good: 'All resources are known',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      problem: failures.length === 0 ? undefined : `Some content could not be deleted: ${failures.join('; ')}`,
      reason: { bad: 'ContentDeletionFailed', good: 'ContentDeleted' },
      good: 'All content has been deleted or is being finalized',
    },
    {
      type: 'NamespaceContentRemaining',
      problem: remaining.size === 0 ? undefined : `Some resources remain: ${printCounts(remaining, 'has')}`,
      reason: { bad: 'SomeResourcesRemain', good: 'ContentRemoved' },
      good: 'All content is gone',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      problem: finalizers.size === 0 ? undefined : `Some content waits for finalizers: ${printCounts(finalizers, 'in')}`,
      reason: { bad: 'SomeFinalizersRemain', good: 'ContentHasNoFinalizers' },
      good: 'No content waits for finalizers',
    },
  ]
}

function printCounts(counts: ReadonlyMap<string, number>, word: string): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${word} ${count} resource instances`)
    .join(', ')
}
