/** The inputs of the pause before the next attempt. */
export interface RetryDelayOptions {
  /** The number of failed attempts, from 1. */
  readonly attempt: number
  /** The longest pause. */
  readonly maxMs: number
  /** From 0 to 1. */
  readonly random: number
}

/**
 * Pause before the next attempt: twice as long each time, from a fiftieth of the longest pause on, and spread by up to
 * one half, so that many clients that lost the same server do not come back at once.
 */
export function retryDelayMs({ attempt, maxMs, random }: RetryDelayOptions): number {
  return Math.min(maxMs, (maxMs / 100) * 2 ** attempt) * (0.5 + random / 2)
}
