import type { AuditLevel, AuditStage } from './policy.ts'

/** The members of an event, in the order in which they are written. */
export interface AuditEvent {
  readonly kind: 'Event'
  readonly apiVersion: string
  readonly level: AuditLevel
  readonly auditID: string
  readonly stage: AuditStage
  readonly requestURI: string
  readonly verb: string
  readonly user: AuditUser
  readonly impersonatedUser?: AuditUser
  readonly authenticationMetadata?: { readonly impersonationConstraint: string }
  readonly sourceIPs?: readonly string[]
  readonly userAgent?: string
  readonly objectRef?: AuditObjectRef
  readonly responseStatus?: AuditStatus
  /** An object, or a printed object. */
  readonly requestObject?: unknown
  readonly responseObject?: unknown
  readonly requestReceivedTimestamp: string
  readonly stageTimestamp: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** An object of an event with its JSON. */
export class PrintedObject {
  readonly json: Uint8Array

  constructor(json: Uint8Array) {
    this.json = json
  }
}

/** The user of an event. Empty members are left out. */
export interface AuditUser {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The requested object. */
export interface AuditObjectRef {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly apiGroup?: string
  readonly apiVersion?: string
  readonly resourceVersion?: string
  readonly subresource?: string
}

/** The end of a request: the code, and the members of a returned Status. */
export interface AuditStatus {
  readonly metadata: Readonly<Record<string, never>>
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: unknown
  readonly code: number
}

/** One event in the format of the first level: words and quoted texts, a line each. */
export function printLegacyEvent(event: AuditEvent): string {
  const { user, impersonatedUser } = event
  const fields: readonly (readonly [string, string])[] = [
    ['id', quoted(event.auditID)],
    ['stage', quoted(event.stage)],
    ['ip', quoted(event.sourceIPs?.[0] ?? '<unknown>')],
    ['method', quoted(event.verb)],
    ['user', quoted(user.username ?? '<none>')],
    ['groups', quotedGroups(user.username === undefined ? undefined : user.groups, '<none>')],
    ['as', quoted(impersonatedUser?.username ?? '<self>')],
    ['asgroups', quotedGroups(impersonatedUser?.groups, '<lookup>')],
    ['user-agent', quoted(event.userAgent ?? '')],
    ['namespace', quoted(event.objectRef?.namespace ?? '<none>')],
    ['uri', quoted(event.requestURI)],
    ['response', `"${event.responseStatus?.code ?? '<deferred>'}"`],
  ]
  return `${event.requestReceivedTimestamp} AUDIT: ${fields.map(([name, text]) => `${name}=${text}`).join(' ')}`
}

/** Texts of clients may contain line breaks; the event must stay one line. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

function quotedGroups(groups: readonly string[] | undefined, none: string): string {
  return quoted(groups === undefined || groups.length === 0 ? none : groups.map(quoted).join(','))
}
