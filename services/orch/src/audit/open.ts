import { domainGroup } from '@orch/core/names'
import type { Auditor } from '@orch/gateway'
import type { AuditDelivery, AuditSender, AuditSink } from '@orch/gateway/audit'
import { type Metrics, messageOf, requireAppendable, SettingsError } from '@orch/platform'
import { StartError } from '../start-error.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AuditBackend, AuditOptions } from './options.ts'

/** Longest that an audit webhook may take over a batch. */
const webhookTimeoutMs = 30_000

/** What writes requests down, with its backends; the code for it is loaded only here. */
export async function openAuditor(
  { policyFile, policy: text, log: logFile, webhook }: AuditOptions,
  { clock, log, random, catalogue: { names } }: Surroundings,
  metrics: Metrics,
): Promise<Auditor> {
  const audit = await import('@orch/gateway/audit')
  const reading = audit.parseAuditPolicy(text, names)
  if (reading.kind === 'refused') throw new SettingsError(`--audit-policy-file=${policyFile}: ${reading.problems.join('; ')}`)
  const surroundings = { clock, log, random, metrics: audit.createAuditMetrics(metrics) }
  const group = domainGroup(names, 'audit')
  const sinkOf = (delivery: AuditDelivery, { mode, batch, truncate }: AuditBackend): AuditSink => {
    const onLost = (count: number) => surroundings.metrics.lost(delivery.name, count)
    const bounded =
      truncate === undefined ? delivery : audit.truncating(delivery, { ...truncate, truncatedKey: `${group}/truncated`, onLost })
    if (mode === 'batch') return new audit.BatchSink(bounded, batch, surroundings)
    return new audit.BlockingSink(bounded, mode === 'blocking-strict', surroundings)
  }
  const sinks: AuditSink[] = []
  if (logFile !== undefined) {
    checkLogFile(logFile.path)
    sinks.push(sinkOf(audit.createAuditLog({ ...logFile, clock, log }), logFile))
  }
  if (webhook !== undefined) {
    sinks.push(sinkOf(audit.createAuditWebhook(await openSender(webhook.configFile), `${group}/v1`), webhook))
  }
  return audit.createAuditor({ policy: reading.policy, sinks, names, clock, log, metrics: surroundings.metrics })
}

/** The file is opened by the first event, and what is wrong with it would then cost events. */
function checkLogFile(path: string): void {
  if (path === '-') return
  try {
    requireAppendable(path)
  } catch (error) {
    throw new StartError(`--audit-log-path=${path}: ${messageOf(error)}`, { cause: error })
  }
}

/** Posts lists of events to the server of a client configuration file. */
async function openSender(path: string): Promise<AuditSender> {
  const sender = await openWebhookSender('--audit-webhook-config-file', path)
  return {
    async post(json) {
      const { code } = await sender.send(json, webhookTimeoutMs)
      if (code < 200 || code > 299) throw new Error(`the audit webhook has answered ${code}`)
    },
    close: () => sender.close(),
  }
}
