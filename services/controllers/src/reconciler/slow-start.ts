/** The tried items, with the errors of the last batch. */
export interface Batches {
  readonly triedCount: number
  readonly errors: readonly unknown[]
}

/** Requests of one batch: their work would fill turns of the event loop. */
const batchMax = 32

/**
 * Works on items in batches of 1, 2, 4, 8 … 32, each batch at once, and stops after the first batch with an error: a quota that is
 * full refuses one request instead of a hundred.
 *
 *   10 items, no error:                batches of 1, 2, 4 and 3    triedCount 10
 *   10 items, the third one refused:   batches of 1 and 2          triedCount 3, one error
 */
export async function inGrowingBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<Batches> {
  let triedCount = 0
  for (let size = 1; triedCount < items.length; size = Math.min(size * 2, batchMax)) {
    const batch = items.slice(triedCount, triedCount + size)
    const results = await Promise.allSettled(batch.map(work))
    triedCount += batch.length
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (errors.length > 0) return { triedCount, errors }
  }
  return { triedCount, errors: [] }
}
