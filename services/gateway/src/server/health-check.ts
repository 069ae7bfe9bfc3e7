/** The conditions of checks, which may have several names. `store` means that writes are possible; the others are steps of a start. */
export type HealthCondition =
  | 'store'
  | 'admission'
  | 'access'
  | 'flow-control'
  | 'definitions'
  | 'bootstrap'
  | 'api-services'
  | 'registration'

/** A condition for readiness. */
export interface HealthCheck {
  readonly name: string
  /** The names of the condition in kube-apiserver; by default its own name. */
  readonly condition?: HealthCondition
  /** Undefined if healthy; otherwise the error. Clients see it only in a request for this check. */
  check(): string | undefined | Promise<string | undefined>
}
