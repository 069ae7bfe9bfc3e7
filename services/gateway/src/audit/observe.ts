import type { User } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import { limits } from '../limits.ts'
import type { GatewayRequest, ResourceInfo } from '../request/index.ts'
import type { BodyMetadata } from '../texts/jobs.ts'
import type { AuditEvent, AuditObjectRef, AuditStatus, AuditUser } from './event.ts'
import type { AuditStage } from './policy.ts'
import type { ReadBodies } from './read-bodies.ts'
import type { AuditOrigin, AuditRecord } from './record.ts'

/** The stage of an event, and its name. */
export interface Moment {
  readonly apiVersion: string
  /** Annotation of a truncated event. */
  readonly truncatedKey: string
  readonly stage: AuditStage
  readonly nowMs: number
}

/** The event of a request at one stage, in output order. The request is read now; the result builds the event when its bodies have been parsed. */
export function eventOf(request: GatewayRequest, record: AuditRecord, moment: Moment): (bodies: ReadBodies) => AuditEvent {
  const { level } = record.decision
  const { stage, nowMs } = moment
  const hasBody = stage !== 'RequestReceived'
  const impersonated = request.user === record.user || !hasBody ? undefined : request.user
  const { requestURI, sourceIPs, userAgent, receivedTimestamp } = record.origin
  const { auditId, info, impersonationConstraint: constraint } = request
  const status = statusOf(request, record, stage)
  const annotations = annotationsOf(request, record, moment)
  return ({ sent, answered, isCut }) => ({
    kind: 'Event',
    apiVersion: moment.apiVersion,
    level,
    auditID: auditId,
    stage,
    requestURI,
    verb: info.verb,
    user: printUser(record.user),
    ...(impersonated === undefined ? {} : { impersonatedUser: printUser(impersonated) }),
    ...(impersonated === undefined || constraint === '' ? {} : { authenticationMetadata: { impersonationConstraint: constraint } }),
    ...(sourceIPs.length === 0 ? {} : { sourceIPs }),
    ...(userAgent === '' ? {} : { userAgent }),
    ...(info.kind === 'resource' ? { objectRef: objectRefOf(info, sent?.metadata) } : {}),
    ...(hasBody ? { responseStatus: status } : {}),
    ...(sent === undefined || level === 'Metadata' ? {} : { requestObject: sent.object }),
    ...(answered === undefined ? {} : { responseObject: answered.object }),
    requestReceivedTimestamp: receivedTimestamp,
    stageTimestamp: microTime(nowMs),
    ...withAnnotations(isCut ? { ...annotations, [moment.truncatedKey]: 'true' } : annotations),
  })
}

function withAnnotations(annotations: AuditEvent['annotations']): Pick<AuditEvent, 'annotations'> {
  return annotations === undefined ? {} : { annotations }
}

/** The facts of a request's head, read while it exists. */
export function originOf(request: GatewayRequest, receivedMs: number): AuditOrigin {
  return {
    requestURI: request.exchange.target,
    sourceIPs: sourcesOf(request),
    userAgent: agentOf(request),
    receivedTimestamp: microTime(receivedMs),
  }
}

/** The user without empty members. */
function printUser({ name, uid, groups, extra }: User): AuditUser {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

/** Addresses in the request's headers, which clients may forge, then the connection's. */
function sourcesOf({ exchange }: GatewayRequest): string[] {
  const forwarded = (exchange.header('x-forwarded-for') ?? '').split(',').map((text) => text.trim())
  const found = forwarded.filter(isAddress).slice(0, limits.auditSourcesMax)
  const real = exchange.header('x-real-ip')?.trim() ?? ''
  if (isAddress(real) && found[0] !== real) found.unshift(real)
  const remote = exchange.remoteAddress.replace(/^::ffff:/, '')
  if (remote !== '' && found[found.length - 1] !== remote) found.push(remote)
  return found
}

function isAddress(text: string): boolean {
  return text.length <= 45 && /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:.]*:[\da-f:.]+)$/i.test(text)
}

function agentOf({ exchange }: GatewayRequest): string {
  const agent = exchange.header('user-agent') ?? ''
  return agent.length > limits.auditUserAgentLengthMax ? `${agent.slice(0, limits.auditUserAgentLengthMax)}...TRUNCATED` : agent
}

/** The path names the object; members that the path lacks, such as the name of a created object, come from its body. */
function objectRefOf(info: ResourceInfo, metadata: BodyMetadata | undefined): AuditObjectRef {
  const ref = {
    resource: info.resource,
    namespace: info.namespace || metadata?.namespace,
    name: info.name || metadata?.name,
    uid: metadata?.uid,
    apiGroup: info.group,
    apiVersion: info.version,
    resourceVersion: metadata?.resourceVersion,
    subresource: info.subresource,
  }
  return Object.fromEntries(Object.entries(ref).filter(([, text]) => text !== undefined && text !== ''))
}

function statusOf(request: GatewayRequest, { status }: AuditRecord, stage: AuditStage): AuditStatus {
  if (stage === 'Panic') {
    return { metadata: {}, status: 'Failure', message: 'the server has failed', reason: 'InternalError', code: request.code || 500 }
  }
  return { metadata: {}, ...(status === undefined ? {} : wordsOf(status)), code: request.code }
}

function wordsOf({ status, message, reason, details }: Omit<Status, 'code'>): Omit<AuditStatus, 'metadata' | 'code'> {
  return {
    ...(status ? { status } : {}),
    ...(message ? { message } : {}),
    ...(reason ? { reason } : {}),
    ...(details === undefined ? {} : { details }),
  }
}

function annotationsOf(
  { annotations: said, bodyAnnotations }: GatewayRequest,
  { isCut, carriesTokens, decision: { level } }: AuditRecord,
  { truncatedKey, stage }: Moment,
): Readonly<Record<string, string>> | undefined {
  // Patches of webhooks repeat parts of the body.
  const annotations = bodyAnnotations === undefined || level === 'Metadata' || carriesTokens ? said : { ...said, ...bodyAnnotations }
  const isShort = isCut && stage !== 'RequestReceived'
  if (!isShort) return annotations === undefined ? undefined : { ...annotations }
  return { ...annotations, [truncatedKey]: 'true' }
}

/** `2026-01-01T00:00:00.000000Z`. */
function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`
}
