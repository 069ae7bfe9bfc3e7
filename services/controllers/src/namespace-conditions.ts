import type { BuiltIn } from '@orch/core/schema'

/** One condition of a Namespace. */
export type NamespaceCondition = BuiltIn<'core/v1.NamespaceCondition'>

/** The result of one attempt to empty a namespace. */
export interface ContentReport {
  /** The reason why not all resources could be discovered. */
  undiscovered: string | undefined
  /** The objects that could not be deleted, with the reason. */
  failures: string[]
  /** Remaining objects by resource: `pods.`, `deployments.apps`. */
  remaining: Map<string, number>
  /** Remaining objects by finalizer. */
  finalizers: Map<string, number>
}

interface Verdict {
  readonly type: string
  /** Undefined without a problem. */
  readonly problem: string | undefined
  readonly reason: { readonly bad: string; readonly good: string }
  readonly good: string
}

/** The conditions of a namespace after an attempt to empty it; conditions of other writers are kept. Returns the same list if nothing has changed. */
export function namespaceConditions(
  before: readonly NamespaceCondition[],
  report: ContentReport,
  nowMs: number,
): readonly NamespaceCondition[] {
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

/** In the words of kube-apiserver, which people and tools search for. */
function verdicts({ undiscovered, failures, remaining, finalizers }: ContentReport): Verdict[] {
  const contentFailure = `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      problem: undiscovered,
      reason: { bad: 'DiscoveryFailed', good: 'ResourcesDiscovered' },
      good: 'All resources successfully discovered',
    },
    {
      // Group versions are checked when they are registered, so that all can be parsed.
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      problem: undefined,
      reason: { bad: 'GroupVersionParsingFailed', good: 'ParsedGroupVersions' },
      good: 'All legacy kube types successfully parsed',
    },
    {
      type: 'NamespaceDeletionContentFailure',
      problem: failures.length === 0 ? undefined : contentFailure,
      reason: { bad: 'ContentDeletionFailed', good: 'ContentDeleted' },
      good: 'All content successfully deleted, may be waiting on finalization',
    },
    {
      type: 'NamespaceContentRemaining',
      problem: remaining.size === 0 ? undefined : `Some resources are remaining: ${printCounts(remaining, 'has')}`,
      reason: { bad: 'SomeResourcesRemain', good: 'ContentRemoved' },
      good: 'All content successfully removed',
    },
    {
      type: 'NamespaceFinalizersRemaining',
      problem:
        finalizers.size === 0 ? undefined : `Some content in the namespace has finalizers remaining: ${printCounts(finalizers, 'in')}`,
      reason: { bad: 'SomeFinalizersRemain', good: 'ContentHasNoFinalizers' },
      good: 'All content-preserving finalizers finished',
    },
  ]
}

function printCounts(counts: ReadonlyMap<string, number>, word: string): string {
  return [...counts]
    .map(([name, count]) => `${name} ${word} ${count} resource instances`)
    .toSorted()
    .join(', ')
}
