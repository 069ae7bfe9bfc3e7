/** Auditing. Loaded only with a policy. */
export { type Auditor, createAuditor } from './auditor.ts'
export type { AuditEvent } from './event.ts'
export { type AuditLogOptions, createAuditLog } from './log-file.ts'
export { type AuditMetrics, createAuditMetrics } from './metrics.ts'
export { fromPlainEvent, type PlainAuditEvent, toPlainEvent } from './plain-event.ts'
export { type AuditPolicy, parseAuditPolicy } from './policy.ts'
export {
  type AuditDelivery,
  type AuditSink,
  type BatchOptions,
  BatchSink,
  BlockingSink,
  type SinkSurroundings,
} from './sink.ts'
export { truncating } from './truncate.ts'
export { type AuditSender, createAuditWebhook } from './webhook.ts'
