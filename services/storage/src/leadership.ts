/** Decides which replica does the work that only one replica may do: publish, compact, expire. */
export interface Leadership {
  readonly isLeader: boolean
  /** Calls the listener at each change, in order. Returns a function that removes the listener. */
  onChange(listener: (isLeader: boolean) => void): () => void
}

/** The leadership of a single replica. */
export const soleLeadership: Leadership = { isLeader: true, onChange: () => () => {} }
