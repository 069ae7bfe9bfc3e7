import { compareTexts } from '../json/member.ts'
import type { Refused } from './choose.ts'
import type { SchedulingRules } from './rules.ts'

/** The message for a cluster without nodes (SCHED-18). */
export const noNodesMessage = 'no nodes available to schedule pods'

/**
 * The text of the condition and event of a Pod that fits nowhere (SCHED-19). `preemption` is the result of preemption.
 *
 *   0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu. preemption: 0/3 nodes are available: …
 */
export function refusalMessage({ nodesCount, refusals, ofAll, namedBy }: Refused, rules: SchedulingRules, preemption = ''): string {
  const { hasUncountedRefusals, hasDoubledStop, leftOut } = rules.message
  const tail = preemption === '' ? '' : ` ${preemption}${hasDoubledStop ? '.' : ''}`
  if (ofAll !== undefined && hasUncountedRefusals) return `${head(nodesCount)} ${ofAll.reasons.join(', ')}.${tail}`
  const counts = new Map<string, number>()
  const add = (reason: string, count: number) => counts.set(reason, (counts.get(reason) ?? 0) + count)
  for (const { reasons } of refusals.values()) for (const reason of reasons) add(reason, 1)
  for (const reason of ofAll?.reasons ?? []) add(reason, nodesCount)
  const leftOutCount = ofAll === undefined ? nodesCount - refusals.size : 0
  if (leftOut !== undefined && namedBy.length > 0 && leftOutCount > 0) add(leftOut(namedBy), leftOutCount)
  return countedMessage(nodesCount, counts) + tail
}

/** `0/3 nodes are available: 1 a, 2 b.`; the reasons are sorted as texts, including counts. */
export function countedMessage(nodesCount: number, counts: ReadonlyMap<string, number>): string {
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort(compareTexts)
  return reasons.length === 0 ? head(nodesCount) : `${head(nodesCount)} ${reasons.join(', ')}.`
}

function head(nodesCount: number): string {
  return `0/${nodesCount} nodes are available:`
}
