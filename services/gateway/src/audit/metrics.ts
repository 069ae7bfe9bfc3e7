import { counter, declareMetrics, type Metrics } from '@orch/platform'
import { type AuditLevel, auditLevels } from './policy.ts'

export type AuditMetrics = ReturnType<typeof createAuditMetrics>

const table = {
  apiserver_audit_event_total: counter('[ALPHA] Audit events that were made and given to the backends.'),
  apiserver_audit_level_total: counter('[ALPHA] Requests by the audit level that the policy gave them.', ['level']),
  apiserver_audit_error_total: counter('[ALPHA] Audit events that a backend could not keep.', ['plugin']),
  apiserver_audit_requests_rejected_total: counter('[ALPHA] Requests that were refused because their audit event could not be kept.'),
}

/** Declares the metrics of auditing. */
export function createAuditMetrics(metrics: Metrics) {
  const declared = declareMetrics(metrics, table)
  const levels = declared.apiserver_audit_level_total
  const perLevel = Object.fromEntries(auditLevels.map((level) => [level, levels.labels({ level })]))
  return {
    event: () => declared.apiserver_audit_event_total.inc(),
    level: (level: AuditLevel) => perLevel[level]?.inc(),
    /** Events that a backend has lost. */
    lost: (plugin: string, count: number) => declared.apiserver_audit_error_total.inc({ plugin }, count),
    /** A request was refused because its event could not be recorded. */
    rejected: () => declared.apiserver_audit_requests_rejected_total.inc(),
  }
}
