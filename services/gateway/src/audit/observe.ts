import { decodeJson, decodeProtobuf, decoderOf, type Names, parseEnvelope, type Status, typeOfKind, type User } from '@orch/core'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request.ts'
import { parseYaml } from '../texts/yaml.ts'
import type { AuditEvent, AuditObjectRef, AuditStatus, AuditUser } from './event.ts'
import type { AuditStage } from './policy.ts'
import type { AuditedBody, AuditOrigin, AuditRecord } from './record.ts'

/** A moment of a request, and the words in which it is told. */
export interface Moment {
  readonly apiVersion: string
  /** Annotation of an event that had to leave something out. */
  readonly truncatedKey: string
  readonly stage: AuditStage
  readonly nowMs: number
  readonly names: Names
}

type ObjectValue = Record<string, unknown>

/** What an event says of a request at one of its moments, in the order in which it is written. */
export function toEvent(request: GatewayRequest, record: AuditRecord, moment: Moment): AuditEvent {
  const { level, omitManagedFields } = record.decision
  const { stage, names, nowMs } = moment
  const hasBody = stage !== 'RequestReceived'
  const sent = hasBody ? readObject(record.body, names) : undefined
  const answered = hasBody && level === 'RequestResponse' ? readObject(record.answer, names) : undefined
  const impersonated = request.user === record.user || !hasBody ? undefined : request.user
  const { requestURI, sourceIPs, userAgent, receivedTimestamp } = record.origin
  const annotations = annotationsOf(request, record, moment)
  return {
    kind: 'Event',
    apiVersion: moment.apiVersion,
    level,
    auditID: request.auditId,
    stage,
    requestURI,
    verb: request.info.verb,
    user: printUser(record.user),
    ...(impersonated === undefined ? {} : { impersonatedUser: printUser(impersonated) }),
    ...(sourceIPs.length === 0 ? {} : { sourceIPs }),
    ...(userAgent === '' ? {} : { userAgent }),
    ...(request.info.kind === 'resource' ? { objectRef: objectRefOf(request, sent) } : {}),
    ...(hasBody ? { responseStatus: statusOf(request, record, stage) } : {}),
    ...(sent === undefined || level === 'Metadata' ? {} : { requestObject: shown(sent, omitManagedFields) }),
    ...(answered === undefined ? {} : { responseObject: shown(answered, omitManagedFields) }),
    requestReceivedTimestamp: receivedTimestamp,
    stageTimestamp: microTime(nowMs),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

/** What the head of a request says, read while it is there. */
export function originOf(request: GatewayRequest, receivedMs: number): AuditOrigin {
  return {
    requestURI: request.exchange.target,
    sourceIPs: sourcesOf(request),
    userAgent: agentOf(request),
    receivedTimestamp: microTime(receivedMs),
  }
}

/** Who that is, without what is empty. */
function printUser({ name, uid, groups, extra }: User): AuditUser {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

/** Addresses that the request says it came by, then the one that it came from. The former are the client's word. */
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

/** The path names the object; what the path leaves open, as the name of an object that is created, its body tells. */
function objectRefOf({ info }: GatewayRequest, sent: ObjectValue | undefined): AuditObjectRef {
  if (info.kind !== 'resource') return {}
  const metadata = (sent?.metadata ?? {}) as ObjectValue
  const told = (name: string): string => (typeof metadata[name] === 'string' ? (metadata[name] as string) : '')
  const ref = {
    resource: info.resource,
    namespace: info.namespace || told('namespace'),
    name: info.name || told('name'),
    uid: told('uid'),
    apiGroup: info.group,
    apiVersion: info.version,
    resourceVersion: told('resourceVersion'),
    subresource: info.subresource,
  }
  return Object.fromEntries(Object.entries(ref).filter(([, text]) => text !== ''))
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
  { isCut, decision: { level } }: AuditRecord,
  { truncatedKey, stage }: Moment,
): Readonly<Record<string, string>> | undefined {
  const annotations = bodyAnnotations === undefined || level === 'Metadata' ? said : { ...said, ...bodyAnnotations }
  const isShort = isCut && stage !== 'RequestReceived'
  if (!isShort) return annotations === undefined ? undefined : { ...annotations }
  return { ...annotations, [truncatedKey]: 'true' }
}

/** The body as an object; what cannot be read as one was refused, and is not repeated. */
function readObject(body: AuditedBody | undefined, names: Names): ObjectValue | undefined {
  if (body === undefined) return undefined
  const bytes = Buffer.concat(body.chunks)
  if (bytes.length === 0) return undefined
  const value = readValue(bytes, body.contentType, names)
  return typeof value === 'object' && value !== null ? (value as ObjectValue) : undefined
}

function readValue(bytes: Buffer, contentType: string, names: Names): unknown {
  if (contentType === names.protobufMediaType) return readProtobuf(bytes, names)
  if (contentType.includes('yaml')) {
    const parsed = parseYaml(bytes.toString())
    return parsed.kind === 'yaml' ? parsed.value : undefined
  }
  const decoded = decodeJson(bytes)
  return decoded.kind === 'malformed' ? undefined : decoded.value
}

/** In the form in which it would be sent as JSON: a message says of many fields that they are empty. */
function readProtobuf(bytes: Buffer, names: Names): unknown {
  const reading = parseEnvelope(bytes, names)
  if (reading.kind === 'malformed') return undefined
  const { apiVersion, kind, raw } = reading.envelope
  const type = typeOfKind(names, apiVersion, kind)
  if (type === undefined) return { apiVersion, kind }
  const message = decodeProtobuf(type, raw)
  if (message.kind === 'malformed') return undefined
  const decoded = decoderOf(type)(message.object, { trackUnknown: false })
  return { kind, apiVersion, ...(decoded.kind === 'mismatch' ? message.object : decoded.object) }
}

const withheld = '<withheld>'

/** The object as it is written down. A token in it would let in whoever reads the log: it is not written, at any level. */
function shown(object: ObjectValue, omitManagedFields: boolean): ObjectValue {
  if (omitManagedFields) for (const one of [object, ...itemsOf(object)]) dropManagedFields(one)
  for (const part of ['spec', 'status']) {
    const inner = object[part]
    const isReview = object.kind === 'TokenReview' || object.kind === 'TokenRequest'
    if (isReview && typeof inner === 'object' && inner !== null && 'token' in inner && inner.token !== '') inner.token = withheld
  }
  return object
}

function itemsOf({ items }: ObjectValue): ObjectValue[] {
  return Array.isArray(items) ? items.filter((item) => typeof item === 'object' && item !== null) : []
}

function dropManagedFields({ metadata }: ObjectValue): void {
  if (typeof metadata === 'object' && metadata !== null) delete (metadata as ObjectValue).managedFields
}

/** `2026-01-01T00:00:00.000000Z`. */
function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`
}
