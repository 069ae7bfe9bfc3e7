/** Decides which replica does the work of one: publish, compact, expire. */
export interface Leadership {
  readonly isLeader: boolean
  /** Told of each change, in order; the function that it returns ends that. */
  onChange(listener: (isLeader: boolean) => void): () => void
}

/** The leadership of a single replica. */
export const soleLeadership: Leadership = { isLeader: true, onChange: () => () => {} }
