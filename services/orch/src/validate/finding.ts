/** Something that a server would refuse or warn of. */
export interface Finding {
  readonly file: string
  /** From 1: where the field is, else where the object begins. */
  readonly line: number
  readonly severity: 'error' | 'warning'
  /** `Deployment web`; '' where it is no object. */
  readonly object: string
  readonly message: string
}
