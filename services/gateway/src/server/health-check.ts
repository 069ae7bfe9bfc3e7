/** The conditions of checks, which may have several names. `store`: writes are possible; the others: steps that a start must reach. */
export type HealthCondition =
  | 'store'
  | 'admission'
  | 'access'
  | 'flow-control'
  | 'definitions'
  | 'bootstrap'
  | 'api-services'
  | 'registration'

/** One thing that must be well before the server is ready. */
export interface HealthCheck {
  readonly name: string
  /** The names of the condition in kube-apiserver. Absent: its own name is shown. */
  readonly condition?: HealthCondition
  /** undefined: healthy; a text: the error. Clients read it only if they ask for this check alone. */
  check(): string | undefined | Promise<string | undefined>
}
