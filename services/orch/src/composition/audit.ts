import { createHttpsTransport, loadConfiguration } from '@orch/client'
import { domainGroup } from '@orch/core'
import type { Auditor } from '@orch/gateway'
import type { AuditDelivery, AuditSender, AuditSink } from '@orch/gateway/audit'
import { type Metrics, SettingsError } from '@orch/platform'
import type { AuditBackend, AuditOptions } from '../options/audit.ts'
import type { Surroundings } from './surroundings.ts'

/** Longest that an audit webhook may take over a batch. */
const webhookTimeoutMs = 30_000
/** Bytes of a webhook's answer that are read; a longer one costs it its connection. */
const webhookAnswerBytesMax = 64 * 1024

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
    if (mode === 'batch') return audit.createBatchSink(bounded, batch, surroundings)
    return audit.createBlockingSink(bounded, mode === 'blocking-strict', surroundings)
  }
  const sinks: AuditSink[] = []
  if (logFile !== undefined) sinks.push(sinkOf(audit.createAuditLog({ ...logFile, clock, log }), logFile))
  if (webhook !== undefined) {
    sinks.push(sinkOf(audit.createAuditWebhook(await openSender(webhook.configFile), `${group}/v1`), webhook))
  }
  return audit.createAuditor({ policy: reading.policy, sinks, names, clock, log, metrics: surroundings.metrics })
}

/** Posts lists of events to the server of a client configuration file. */
async function openSender(path: string): Promise<AuditSender> {
  const configuration = await loadConfiguration(path).catch((error: unknown) => {
    throw new SettingsError(`--audit-webhook-config-file=${path}: ${(error as Error).message}`)
  })
  const transport = createHttpsTransport(configuration)
  return {
    async post(json) {
      const signal = AbortSignal.timeout(webhookTimeoutMs)
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      const { status, body } = await transport.send({ method: 'POST', path: '', headers, body: json, signal })
      let length = 0
      for await (const bytes of body) {
        length += bytes.length
        if (length > webhookAnswerBytesMax) break
      }
      if (status < 200 || status > 299) throw new Error(`the audit webhook has answered ${status}`)
    },
    close: () => transport.close(),
  }
}
