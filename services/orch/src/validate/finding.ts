/** Something that a server would refuse or warn of. */
export interface Finding {
  readonly file: string
  /** From 1: where the field is, else where the object begins. */
  readonly line: number
  /**
   * An error is a refusal. What a policy would only audit, and what cannot be known without a cluster, is said as well, and changes nothing.
   */
  readonly severity: 'error' | 'warning' | 'audit' | 'note'
  /** `Deployment web`; '' where it is no object. */
  readonly object: string
  readonly message: string
}
