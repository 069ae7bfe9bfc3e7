/** The management of an APIService by the server: only at its start, or while its group version is served. */
export type Management = 'onstart' | 'true'

/** The management in the label of an APIService; undefined for manual management. */
export function managementOf(labels: Readonly<Record<string, string>> | undefined, label: string): Management | undefined {
  const value = labels?.[label]
  return value === 'onstart' || value === 'true' ? value : undefined
}

/** The inputs of the decision about one APIService. */
export interface RegistrationState {
  /** Undefined if no APIService is wanted. */
  readonly wanted: { readonly management: Management | undefined } | undefined
  /** Undefined if no APIService is stored. */
  readonly stored: { readonly management: Management | undefined; readonly isAsWanted: boolean } | undefined
  /** True if it was correct once since the start of this server. */
  readonly hasSynced: boolean
  /** True if it was stored when this server started. */
  readonly wasThereAtStart: boolean
}

/** The next step for an APIService. */
export type RegistrationStep = 'nothing' | 'create' | 'update' | 'delete'

/** Never changes a manually managed APIService. Changes an APIService with the management `onstart` only at the start. */
export function registrationStep({ wanted, stored, hasSynced, wasThereAtStart }: RegistrationState): RegistrationStep {
  if (wanted?.management === 'onstart' && hasSynced) return 'nothing'
  if (stored === undefined) return wanted === undefined ? 'nothing' : 'create'
  if (stored.management === undefined) return 'nothing'
  if (stored.management === 'onstart' && (!wasThereAtStart || hasSynced)) return 'nothing'
  if (wanted === undefined) return 'delete'
  return stored.isAsWanted ? 'nothing' : 'update'
}
