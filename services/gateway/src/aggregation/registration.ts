/** The management of an APIService by the server: at its start alone, or for as long as its group version is served. */
export type Management = 'onstart' | 'true'

/** The management in the label of an APIService; undefined: it is managed by hand. */
export function managementOf(labels: Readonly<Record<string, string>> | undefined, label: string): Management | undefined {
  const value = labels?.[label]
  return value === 'onstart' || value === 'true' ? value : undefined
}

/** The state when one APIService is brought into order. */
export interface RegistrationState {
  /** Absent: none is wanted. */
  readonly wanted: { readonly management: Management | undefined } | undefined
  /** Absent: none is stored. */
  readonly stored: { readonly management: Management | undefined; readonly isAsWanted: boolean } | undefined
  /** It has been in order once since the start of this server. */
  readonly hasSynced: boolean
  /** It was stored when this server started. */
  readonly wasThereAtStart: boolean
}

/** The next step for an APIService. */
export type RegistrationStep = 'nothing' | 'create' | 'update' | 'delete'

/** An APIService that is managed by hand is left alone, and one that is managed at the start is left alone afterwards. */
export function registrationStep({ wanted, stored, hasSynced, wasThereAtStart }: RegistrationState): RegistrationStep {
  if (wanted?.management === 'onstart' && hasSynced) return 'nothing'
  if (stored === undefined) return wanted === undefined ? 'nothing' : 'create'
  if (stored.management === undefined) return 'nothing'
  if (stored.management === 'onstart' && (!wasThereAtStart || hasSynced)) return 'nothing'
  if (wanted === undefined) return 'delete'
  return stored.isAsWanted ? 'nothing' : 'update'
}
