import type { Metrics } from '@orch/platform'
import { type AuditLevel, auditLevels } from './policy.ts'

/** What auditing counts. */
export interface AuditMetrics {
  event(): void
  level(level: AuditLevel): void
  /** Events that a backend has lost. */
  lost(plugin: string, count: number): void
  /** A request was refused because its event could not be kept. */
  rejected(): void
}

export function createAuditMetrics(metrics: Metrics): AuditMetrics {
  const events = metrics.counter({
    name: 'apiserver_audit_event_total',
    help: '[ALPHA] Audit events that were made and given to the backends.',
  })
  const levels = metrics.counter({
    name: 'apiserver_audit_level_total',
    help: '[ALPHA] Requests by the audit level that the policy gave them.',
    labels: ['level'],
  })
  const errors = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: '[ALPHA] Audit events that a backend could not keep.',
    labels: ['plugin'],
  })
  const rejected = metrics.counter({
    name: 'apiserver_audit_requests_rejected_total',
    help: '[ALPHA] Requests that were refused because their audit event could not be kept.',
  })
  const perLevel = Object.fromEntries(auditLevels.map((level) => [level, levels.labels({ level })]))
  return {
    event: () => events.inc(),
    level: (level) => perLevel[level]?.inc(),
    lost: (plugin, count) => errors.inc({ plugin }, count),
    rejected: () => rejected.inc(),
  }
}
