import type { Freshness } from '@orch/core/contracts'
import { tooLargeResourceVersion } from '@orch/core/meta'
import type { ResolvedRead } from '@orch/core/read'
import { type Clock, sleep } from '@orch/platform'
import type { Faults } from '../faults/faults.ts'
import { withoutWork } from '../faults/without-work.ts'
import { pastReadOf } from '../history/past.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request/request.ts'

/** The dependencies of reads that a test may freeze. */
export interface FrozenParts {
  /** Undefined if no read is ever frozen. */
  readonly faults: Faults | undefined
  readonly clock: Clock
}

/** True if no read is frozen, so that `frozenAt` need not be called. */
export function seesPresent({ pastRevision }: GatewayRequest, { faults }: FrozenParts): boolean {
  return faults === undefined && pastRevision === 0
}

/** The start revision of a watch, if not the current one. */
export function frozenRevision(request: GatewayRequest, { faults }: FrozenParts): number | undefined {
  return request.pastRevision > 0 ? request.pastRevision : faults?.reads.freezeOf(request)?.revision
}

/**
 * The revision of the past that a read sees: that of its path, or, if a test has frozen it and a server's cache could be as old:
 *
 *   frozen at 40:   any → 40    not older than 30 → 40    not older than 50 → waits, then 504    latest → 40 if all are frozen
 */
export async function frozenAt(request: GatewayRequest, read: ResolvedRead, parts: FrozenParts): Promise<Freshness | undefined> {
  const past = pastReadOf(request)
  if (past !== undefined) return past
  const freeze = parts.faults?.reads.freezeOf(request)
  if (freeze === undefined) return undefined
  const { revision, strength, thawed } = freeze
  const point = read.kind === 'watchWithState' ? read.state : read
  if (point.kind === 'notOlderThan' && point.revision > revision) {
    const waiting = new AbortController()
    await withoutWork(request, parts, () => Promise.race([thawed, sleep(parts.clock, limits.frozenWaitMs, waiting.signal)]))
    waiting.abort()
    if (parts.faults?.reads.freezeOf(request) === freeze) throw tooLargeResourceVersion(point.asked, revision)
    return undefined
  }
  const isFrozen = point.kind === 'any' || point.kind === 'notOlderThan' || (point.kind === 'latest' && strength === 'all')
  if (!isFrozen) return undefined
  parts.faults?.noteStale(request)
  return { kind: 'exact', revision, asked: String(revision) }
}
