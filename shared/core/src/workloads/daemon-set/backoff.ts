const firstPauseMs = 1_000
const longestPauseMs = 15 * 60_000

/** The last removal of a failed Pod on a node, and the pause before the next one. */
interface Removal {
  readonly atMs: number
  readonly pauseMs: number
}

/** Removals of failed Pods by node, for one observed generation of a set. */
export interface FailureBackoff {
  readonly generation: number
  readonly byNode: ReadonlyMap<string, Removal>
}

export const noRemovals: FailureBackoff = { generation: 0, byNode: new Map() }

/** The backoff of a generation, without removals older than twice the maximum pause. */
export function backoffOf(backoff: FailureBackoff, generation: number, nowMs: number): FailureBackoff {
  if (backoff.generation !== generation) return { generation, byNode: new Map() }
  return { generation, byNode: new Map([...backoff.byNode].filter(([, { atMs }]) => nowMs - atMs <= 2 * longestPauseMs)) }
}

/** Time until a failed Pod of the node may be removed; 0 for now. */
export function pauseMs({ byNode }: FailureBackoff, node: string, nowMs: number): number {
  const removal = byNode.get(node)
  return removal === undefined ? 0 : Math.max(0, removal.atMs + removal.pauseMs - nowMs)
}

/** The backoff after a removal: each pause is twice the previous one, up to 15 minutes (WL-DS-13). */
export function afterRemoval({ generation, byNode }: FailureBackoff, node: string, nowMs: number): FailureBackoff {
  const before = byNode.get(node)
  const pause = before === undefined ? firstPauseMs : Math.min(2 * before.pauseMs, longestPauseMs)
  return { generation, byNode: new Map(byNode).set(node, { atMs: nowMs, pauseMs: pause }) }
}
