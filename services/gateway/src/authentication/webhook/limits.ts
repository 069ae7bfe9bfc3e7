/** Bounds of what is asked of a token webhook, each with the reason for its number. */
export const limits = {
  /** Tries of one question, with growing pauses; all of them have to fit into the time of the request. */
  attemptsMax: 5,
  /** First pause between two tries; each further one is half as long again. */
  pauseMs: 500,
  /** Longest a try may take. */
  attemptMs: 10_000,
  /** Decisions that are remembered; the oldest go first. */
  decisionsMax: 4_096,
} as const
