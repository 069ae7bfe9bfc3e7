import { isActivePod, isReadyPod, type Pod, readySinceMs } from './pods.ts'

const phases = ['Pending', 'Unknown', 'Running']

export interface VictimsOptions {
  /** Pods of all ReplicaSets with the same controller. If empty, nodes are ranked equally. */
  readonly related: readonly Pod[]
  /** The annotation with a Pod's deletion cost, an int32. Default: no costs. */
  readonly costAnnotation?: string
  /** True to compare times exactly instead of by powers of two. */
  readonly isExact?: boolean
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * The order in which a ReplicaSet deletes Pods: unscheduled, by phase, unready, lower deletion cost, on the node with more
 * related Pods, ready for less time, more restarts, younger. Times are compared by powers of two, so that a Pod that is one second
 * younger than another is not always first.
 *
 *   ready for 3 s, 5 s, 9 s    buckets 2^31, 2^32, 2^33 ns: 3 s first, then 5 s, then 9 s
 *   ready for 5 s, 7 s         one bucket: the lower uid first
 */
export function inVictimOrder(pods: readonly Pod[], { related, costAnnotation = '', isExact = false, nowMs }: VictimsOptions): Pod[] {
  const onNode = new Map<string, number>()
  for (const pod of related) {
    const node = nodeOf(pod)
    if (node !== '' && isActivePod(pod)) onNode.set(node, (onNode.get(node) ?? 0) + 1)
  }
  const ranked = pods.map((pod) => rank(pod, onNode.get(nodeOf(pod)) ?? 0, costAnnotation))
  return ranked.toSorted((left, right) => compare(left, right, { nowMs, isExact })).map(({ pod }) => pod)
}

type Ranked = ReturnType<typeof rank>

function rank(pod: Pod, onNode: number, costAnnotation: string) {
  const { metadata, status } = pod
  const createdMs = Date.parse(metadata.creationTimestamp ?? '')
  return {
    pod,
    isBound: nodeOf(pod) !== '',
    phase: Math.max(0, phases.indexOf(status.phase ?? '')),
    isReady: isReadyPod(pod),
    cost: parseCost(metadata.annotations?.[costAnnotation]),
    onNode,
    readyMs: readySinceMs(pod),
    restarts: Math.max(0, ...(status.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0)),
    createdMs: Number.isNaN(createdMs) ? undefined : createdMs,
  }
}

/** A negative result means that the left Pod is first. */
function compare(left: Ranked, right: Ranked, { nowMs, isExact }: Comparing): number {
  const byState =
    Number(left.isBound) - Number(right.isBound) ||
    left.phase - right.phase ||
    Number(left.isReady) - Number(right.isReady) ||
    left.cost - right.cost ||
    right.onNode - left.onNode
  if (byState !== 0) return byState
  const byReadiness = left.isReady ? compareTimes(left, right, { left: left.readyMs, right: right.readyMs, nowMs, isExact }) : 0
  return (
    byReadiness ||
    right.restarts - left.restarts ||
    compareTimes(left, right, { left: left.createdMs, right: right.createdMs, nowMs, isExact })
  )
}

interface Comparing {
  readonly nowMs: number
  readonly isExact: boolean
}

interface Times extends Comparing {
  readonly left: number | undefined
  readonly right: number | undefined
}

/** Later times are first, by powers of two of nanoseconds unless they are exact; unknown times are before all others. */
function compareTimes(one: Ranked, other: Ranked, { left, right, nowMs, isExact }: Times): number {
  if (left === right) return 0
  if (left === undefined) return -1
  if (right === undefined) return 1
  if (isExact) return right - left
  const byBucket = bucketOf(nowMs - left) - bucketOf(nowMs - right)
  if (byBucket !== 0) return byBucket
  return (one.pod.metadata.uid ?? '') < (other.pod.metadata.uid ?? '') ? -1 : 1
}

function bucketOf(agoMs: number): number {
  return agoMs > 0 ? Math.floor(Math.log2(agoMs * 1e6)) : -1
}

/** Parses an int32 without a plus sign or leading zeros; other texts count as 0. */
function parseCost(text: string | undefined): number {
  if (text === undefined || !/^(0|[1-9]\d*|-\d+)$/.test(text)) return 0
  const cost = Number(text)
  return cost >= -(2 ** 31) && cost < 2 ** 31 ? cost : 0
}

function nodeOf({ spec }: Pod): string {
  return spec.nodeName ?? ''
}
