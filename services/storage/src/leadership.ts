/** Whether this replica is the one that does what only one may do: publish, compact, expire. */
export interface Leadership {
  readonly isLeader: boolean
  /** Told of each change, in order; the function that it returns ends that. */
  onChange(listener: (isLeader: boolean) => void): () => void
}

/** Where there is one replica only, it leads. */
export const soleLeadership: Leadership = { isLeader: true, onChange: () => () => {} }
