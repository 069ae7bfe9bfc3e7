import { domainGroup } from '@orch/core/names'
import type { Auditor } from '@orch/gateway'
import type { AuditDelivery, AuditEvent, AuditSender, AuditSink, PlainAuditEvent, SinkSurroundings } from '@orch/gateway/audit'
import { type Metrics, messageOf, requireAppendable, SettingsError } from '@orch/platform'
import type { ApiOptions } from '../api/settings.ts'
import { StartError } from '../process/terminal.ts'
import type { Surroundings } from '../surroundings.ts'
import { openWebhookSender } from '../webhooks/sender.ts'
import type { AuditBackend, AuditOptions } from './settings.ts'

/** Timeout of a batch at an audit webhook. */
const webhookTimeoutMs = 30_000

export interface AuditNeeds {
  readonly api: Pick<ApiOptions, 'level'>
  /** Undefined for no audit. */
  readonly audit: AuditOptions | undefined
  readonly metrics: Metrics
  /** Passes an event to the backends of another thread; its `GatewayAudit.take`. By default the backends are here. */
  readonly auditElsewhere?: GatewayAudit['take'] | undefined
}

/** The audit of a gateway. The gateway closes the auditor, the lifecycle the backends. */
export interface GatewayAudit {
  readonly auditor: Auditor
  /** Queues an event of another thread; resolves when the backends have stored it, if requests wait for that, with the reason why the request must fail. */
  take(event: PlainAuditEvent): Promise<string | undefined>
}

/** Opens it with its backends, whose code is loaded only here. Undefined for no audit. */
export async function openAudit(
  { api, audit: options, metrics, auditElsewhere }: AuditNeeds,
  surroundings: Surroundings,
): Promise<GatewayAudit | undefined> {
  if (options === undefined) return undefined
  const { clock, chance, lifecycle, log } = surroundings
  const { names } = surroundings.catalogue
  const audit = await import('@orch/gateway/audit')
  const reading = audit.parseAuditPolicy(options.policy, names)
  if (reading.kind === 'refused') throw new SettingsError(`--audit-policy-file=${options.policyFile}: ${reading.problems.join('; ')}`)
  const world = { clock, log, random: chance.fraction, metrics: audit.createAuditMetrics(metrics) }
  const sinks =
    auditElsewhere === undefined ? await openSinks(options, surroundings, world) : [await openSinkElsewhere(options, auditElsewhere, world)]
  lifecycle.onStop('audit backends', () => Promise.all(sinks.map((sink) => sink.close())))
  return {
    auditor: audit.createAuditor({ policy: reading.policy, sinks, names, level: api.level, clock, log, metrics: world.metrics }),
    async take(plain) {
      const event = audit.fromPlainEvent(plain)
      const taken = await Promise.allSettled(sinks.map((sink) => sink.take(event)))
      const failed = taken.find((one) => one.status === 'rejected')
      return failed === undefined ? undefined : messageOf(failed.reason)
    },
  }
}

/** Runs the backends of another thread. Blocking requests wait for them as in that thread. */
async function openSinkElsewhere(
  { log, webhook }: AuditOptions,
  send: GatewayAudit['take'],
  surroundings: SinkSurroundings,
): Promise<AuditSink> {
  const { BlockingSink, toPlainEvent } = await import('@orch/gateway/audit')
  const modes = [log, webhook].flatMap((backend) => backend?.mode ?? [])
  const refusals = new WeakMap<AuditEvent, string>()
  const delivery: AuditDelivery = {
    name: 'thread',
    async deliver(events) {
      for (const event of events) {
        const problem = await send(toPlainEvent(event))
        // The backend has counted the lost event.
        if (problem !== undefined) refusals.set(event, problem)
      }
    },
    close: async () => {},
  }
  const sink = new BlockingSink(delivery, modes.includes('blocking-strict'), surroundings)
  const close = () => sink.close()
  if (modes.every((mode) => mode === 'batch')) return { take: (event) => void sink.take(event), room: () => undefined, close }
  return {
    async take(event) {
      await sink.take(event)
      const problem = refusals.get(event)
      if (problem !== undefined) throw new Error(problem)
    },
    room: () => sink.room(),
    close,
  }
}

async function openSinks(
  { log: logFile, webhook }: AuditOptions,
  surroundings: Surroundings,
  world: SinkSurroundings,
): Promise<readonly AuditSink[]> {
  const { clock, log, catalogue } = surroundings
  const { names } = catalogue
  const audit = await import('@orch/gateway/audit')
  const group = domainGroup(names, 'audit')
  const sinkOf = (delivery: AuditDelivery, { mode, batch, truncate }: AuditBackend): AuditSink => {
    const onLost = (count: number) => world.metrics.lost(delivery.name, count)
    const bounded =
      truncate === undefined ? delivery : audit.truncating(delivery, { ...truncate, truncatedKey: `${group}/truncated`, onLost })
    if (mode === 'batch') return new audit.BatchSink(bounded, batch, world)
    return new audit.BlockingSink(bounded, mode === 'blocking-strict', world)
  }
  const sinks: AuditSink[] = []
  if (logFile !== undefined) {
    checkLogFile(logFile.path)
    sinks.push(sinkOf(audit.createAuditLog({ ...logFile, clock, log }), logFile))
  }
  if (webhook !== undefined) {
    sinks.push(sinkOf(audit.createAuditWebhook(await openSender(webhook.configFile, surroundings), `${group}/v1`), webhook))
  }
  return sinks
}

/** The file is opened by the first event, and an error then would lose events. */
function checkLogFile(path: string): void {
  if (path === '-') return
  try {
    requireAppendable(path)
  } catch (error) {
    throw new StartError(`--audit-log-path=${path}: ${messageOf(error)}`, { cause: error })
  }
}

/** Posts lists of events to the server of a client configuration file. */
async function openSender(path: string, surroundings: Surroundings): Promise<AuditSender> {
  const sender = await openWebhookSender({ flag: '--audit-webhook-config-file', path, to: 'audit/webhook' }, surroundings)
  return {
    async post(json) {
      const { code } = await sender.send(json, webhookTimeoutMs)
      if (code < 200 || code > 299) throw new Error(`the audit webhook has answered ${code}`)
    },
    close: () => sender.close(),
  }
}
