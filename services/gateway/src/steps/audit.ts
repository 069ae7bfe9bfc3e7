import type { Auditor } from '../audit/auditor.ts'
import type { Step } from './step.ts'

/** What the audit of requests needs. */
export interface AuditParts {
  /** Absent: no request is audited. */
  readonly auditor: Auditor | undefined
}

/** Writes down that the request has come, and from whom. Nothing is written without a policy. */
export const audit: Step<AuditParts> = (request, { auditor }) => {
  request.isKnown = true
  return auditor?.begin(request)
}
