import { isRefusal } from '@orch/client'
import { passTurns } from '@orch/platform'

/** Maximum number of parallel requests of one pass, and of items in one turn of the event loop. */
const openMax = 32

/** Processes all items, several in parallel. The first failure other than an outdated cache is thrown after all were tried. */
export async function settleAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (let from = 0; from < items.length; from += openMax) {
    if (from > 0) await passTurns(1)
    const results = await Promise.allSettled(items.slice(from, from + openMax).map(work))
    for (const result of results) if (result.status === 'rejected' && !isRefusal(result.reason, outdated)) failures.push(result.reason)
  }
  if (failures.length > 0) throw failures[0]
}

/** The object is gone or was recreated: an event follows. */
const outdated = ['NotFound', 'Conflict'] as const
