import { StatusError } from '@orch/core/meta'

/** Requests of one pass that are open at once. */
const openMax = 32

/** Works on all items, several at once. The first failure that is not about an outdated cache is thrown when all have been tried. */
export async function settleAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (let from = 0; from < items.length; from += openMax) {
    const results = await Promise.allSettled(items.slice(from, from + openMax).map(work))
    for (const result of results) if (result.status === 'rejected' && !isOutdated(result.reason)) failures.push(result.reason)
  }
  if (failures.length > 0) throw failures[0]
}

/** The object is gone, or it is another one of that name: an event follows. */
function isOutdated(error: unknown): boolean {
  return error instanceof StatusError && (error.reason === 'NotFound' || error.reason === 'Conflict')
}
