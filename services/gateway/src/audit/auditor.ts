import { internal } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { limits } from '../limits.ts'
import type { GatewayRequest, RequestInfo } from '../request/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { TextThread } from '../texts/text-thread.ts'
import { type AuditDecision, createDecider } from './decide.ts'
import type { AuditEvent } from './event.ts'
import type { AuditMetrics } from './metrics.ts'
import { eventOf, type Moment, originOf } from './observe.ts'
import type { AuditPolicy, AuditStage } from './policy.ts'
import { largeBytesOf, type ReadBodies, readBodies } from './read-bodies.ts'
import { AuditRecord } from './record.ts'
import { type AuditSink, endsInTime } from './sink.ts'

/** Records requests according to a policy. */
export type Auditor = ReturnType<typeof createAuditor>

export interface AuditorOptions extends Pick<Surroundings, 'names' | 'level' | 'clock' | 'log'> {
  readonly policy: AuditPolicy
  readonly sinks: readonly AuditSink[]
  readonly metrics: AuditMetrics
  /** Parses large bodies, and is closed with the auditor. By default a separate thread, so that no request waits for its events. */
  readonly thread?: Pick<TextThread, 'do' | 'close'>
}

/** An auditor over the given backends, which their opener closes afterwards. */
export function createAuditor({ policy, sinks, names, level, clock, log, metrics, thread = new TextThread() }: AuditorOptions) {
  const decide = createDecider(policy)
  const apiVersion = `${domainGroup(names, 'audit')}/v1`
  const truncatedKey = `${domainGroup(names, 'audit')}/truncated`

  const write = (event: AuditEvent): Promise<void> | undefined => {
    metrics.event()
    const waits = sinks.map((sink) => sink.take(event)).filter((wait) => wait !== undefined)
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {})
  }
  const reader = {
    names,
    level,
    thread,
    onError: (error: unknown) => log.error({ err: error }, 'a body could not be read for its audit event'),
  }
  /** Events that wait for their bodies, and the size of the bodies in bytes. */
  const waiting = new Set<Promise<void>>()
  let waitingBytes = 0

  const writeLater = (record: AuditRecord, make: (bodies: ReadBodies) => AuditEvent, bodies: ReadBodies | Promise<ReadBodies>) => {
    const bytes = largeBytesOf(record)
    waitingBytes += bytes
    const written = Promise.all([bodies, record.writing])
      .then(([read]) => write(make(read)))
      .finally(() => {
        waitingBytes -= bytes
        waiting.delete(settled)
      })
    const settled: Promise<void> = written.catch(() => {})
    waiting.add(settled)
    record.writing = settled
    return written
  }
  const report = (request: GatewayRequest, record: AuditRecord, stage: AuditStage): Promise<void> | undefined => {
    if (record.decision.omitStages.has(stage)) return undefined
    const moment: Moment = { apiVersion, truncatedKey, stage, nowMs: clock.now() }
    try {
      const make = eventOf(request, record, moment)
      const bodies = readBodies(record, stage, reader)
      if (bodies instanceof Promise || record.writing !== undefined) return writeLater(record, make, bodies)
      return write(make(bodies))
    } catch (error) {
      log.error({ err: error, auditId: request.auditId }, 'an audit event could not be made')
      return undefined
    }
  }
  const recordOf = (request: GatewayRequest, decision: AuditDecision): AuditRecord => {
    const reporter = {
      report(record: AuditRecord, stage: AuditStage) {
        // The caller does not wait, and the failure is already counted and logged.
        report(request, record, stage)?.catch(() => {})
      },
    }
    const origin = originOf(request, clock.now() - (clock.monotonic() - request.startedMs))
    const record = new AuditRecord({
      decision,
      user: request.user,
      origin,
      reporter,
      answerBytesMax: limits.auditAnswerBytesMax,
      carriesTokens: carriesTokens(request.info, names),
    })
    request.audit = record
    return record
  }

  /** Maximum bytes of bodies to parse; beyond it the next request waits until one has been parsed. */
  const room = (): Promise<void> | undefined =>
    waitingBytes < limits.auditWaitingBytesMax ? roomIn(sinks) : Promise.race(waiting).then(() => roomIn(sinks))

  return {
    /** An authenticated request begins. Returns a promise for a blocking backend; a strict one may refuse the request. */
    begin(request: GatewayRequest) {
      const decision = decide(request.user, request.info)
      metrics.level(decision.level)
      if (decision.level === 'None') return
      const record = recordOf(request, decision)
      const written = report(request, record, 'RequestReceived') ?? room()
      return written?.catch((error: unknown) => {
        metrics.rejected()
        throw internal('failed to store audit event', { cause: error })
      })
    },
    /** A request was refused before its user was known. */
    refuse(request: GatewayRequest) {
      const decision = decide(request.user, request.info)
      metrics.level(decision.level)
      if (decision.level !== 'None') recordOf(request, decision).isRefused = true
    },
    /** Resolves when all events have been passed to the backends or dropped. */
    async close() {
      await endsInTime(Promise.all(waiting), clock)
      // Bodies that have not been parsed by now are omitted.
      await thread.close()
      await Promise.all(waiting)
    },
  }
}

/** Waits while the queue of a blocking backend is too long. */
function roomIn(sinks: readonly AuditSink[]): Promise<void> | undefined {
  const waits = sinks.map((sink) => sink.room()).filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Promise.all(waits).then(() => {})
}

/** True if bodies of a request contain tokens. The requested resource decides, as a body may claim any kind. */
function carriesTokens(info: RequestInfo, names: Names): boolean {
  if (info.kind !== 'resource') return false
  const { group, resource, subresource } = info
  if (group === '') return resource === 'serviceaccounts' && subresource === 'token'
  return group === domainGroup(names, 'authentication') && resource === 'tokenreviews'
}
