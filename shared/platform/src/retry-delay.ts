/** The inputs of the pause before the next attempt. */
export interface RetryDelayOptions {
  /** The number of failed attempts, at least 1. */
  readonly attempt: number
  /** The longest pause. */
  readonly maxMs: number
  /** From 0 to 1. */
  readonly random: number
}

/**
 * The pause before the next attempt. It starts at a fiftieth of the maximum, doubles each time, and varies randomly by up to
 * one half, so that many clients that lost the same server do not return at once.
 */
export function retryDelayMs({ attempt, maxMs, random }: RetryDelayOptions): number {
  return Math.min(maxMs, (maxMs / 100) * 2 ** attempt) * (0.5 + random / 2)
}
