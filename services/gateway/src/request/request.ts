import type { CallContext, User } from '@orch/core/contracts'
import { badRequest, type Status } from '@orch/core/meta'
import { isControlPath } from '@orch/core/names'
import type { Clock, Span } from '@orch/platform'
import { type Exchange, type HeaderFields, mediaTypeOf } from '../exchange/exchange.ts'
import { limits } from '../limits.ts'
import type { TextThread } from '../texts/text-thread.ts'
import type { Draws } from './draws.ts'
import type { Explanation } from './explanation.ts'
import { acceptsAnything, type Format, type Negotiated, type Negotiator, type Representation } from './negotiate.ts'
import { emptyQuery, parseQuery, parseRequestInfo, type Query, queryBoolean, type RequestInfo, splitPastPath } from './request-info.ts'
import { Warnings } from './warnings.ts'

/** The parts shared by all requests of a gateway. */
export interface RequestOptions {
  readonly requestTimeoutMs: number
  readonly pathPrefix: string
  readonly negotiator: Negotiator
  readonly draws: Pick<Draws, 'auditId'>
  /** Processes large texts; by default here. */
  readonly texts?: TextThread
  /** True if requests are audited. */
  readonly isAudited?: boolean
  /** True if the log of requests stores their bodies. */
  readonly keepsBodies?: boolean
}

/** The trace of a request, and the span that records it. */
export interface RequestTrace {
  /** W3C trace context of the request's span; without a span the client's, for the logs. */
  readonly traceparent: string
  /** Undefined if not sampled. */
  readonly span: Span | undefined
}

/** The numbers of executing requests, without watches and tunnels. */
export interface InFlightCounts {
  readsInFlight: number
  writesInFlight: number
  /** Observes the counts; optional. */
  loadMeter?: LoadMeter | undefined
}

/** Observes the number of requests. */
export interface LoadMeter {
  /** Begins to count this number of executing reads or writes. */
  worked(isWrite: boolean, count: number): void
  /** Adds to or subtracts from the waiting requests. */
  waits(isWrite: boolean, change: 1 | -1): void
}

/** The audit record of a request. It stores the parts for the level of the request. */
export interface AuditTrail {
  takeBody(contentType: string, bytes: Uint8Array): void
  /** The first whole answer counts. */
  takeAnswer(contentType: string, bytes: Uint8Array): void
  /** One piece of a streamed answer. */
  addAnswer(contentType: string, bytes: Uint8Array): void
  /** The returned Status. `hasPanicked` is true if the server has failed. */
  takeStatus(status: Omit<Status, 'code'>, hasPanicked: boolean): void
  /** A long answer has begun: a watch. */
  responseStarted(): void
  /** The request has ended. */
  responseComplete(): void
}

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** A request with the results of the steps so far. */
export class GatewayRequest {
  /** Replaced if a fault of a test changes the answer. */
  exchange: Exchange
  readonly method: string
  readonly auditId: string
  /** Decoded, without the prefix of the server and the name of a past state. */
  readonly path: string
  /** The past state in its path; undefined for the current state. */
  readonly moment: string | undefined
  /** The revision of that state; 0 for the current state. */
  pastRevision = 0
  query: Query
  readonly info: RequestInfo
  /** On the monotonic clock. */
  readonly startedMs: number
  /** On the monotonic clock; the request is answered 504 after it. */
  deadlineMs: number
  user: User = noUser
  /** The verb that allows its caller to impersonate its user; '' without constrained impersonation. */
  impersonationConstraint = ''
  /** Headers for browsers in the answer to this request. */
  browserHeaders: HeaderFields | undefined
  /** Undefined without warnings. */
  warnings: Warnings | undefined
  /** The Allow header of a 405 for its path. */
  allowedMethods: readonly string[] | undefined
  /** Set by the handler that answered. */
  code = 0
  sentBytes = 0
  /** True if its body or its object is so large that it is processed in steps, between which others run. */
  isLarge = false
  /** Time that it waited for its turn and for webhooks, which is not the server's. */
  waitedMs = 0
  /** True if it outlives its verb, which concludes it at its end. */
  goesOn = false
  /** True for an unserved path, whose names must not become labels of a metric. */
  isUnserved = true
  /** Its seat while it is executing; a watch releases it once it has begun. */
  seat: { release(): void } | undefined
  /** The headers with the uids of its FlowSchema and PriorityLevelConfiguration. */
  flowHeaders: Readonly<Record<string, string>> | undefined
  /** True after authentication. */
  isKnown = false
  /** Undefined without a trace. */
  trace: RequestTrace | undefined
  /** Its audit record; undefined without one. */
  audit: AuditTrail | undefined
  /** Annotations of the audit events. */
  annotations: Record<string, string> | undefined
  /** Annotations that are only in events with the request's body. */
  bodyAnnotations: Record<string, string> | undefined
  /** The record of its decisions, for an explanation. */
  explanation: Explanation | undefined
  /** The revision of the written or read object, or of its list; 0 for none. */
  revision = 0
  /** Name of the object that it has written, or that its body creates; '' for none. */
  writtenName = ''
  /** True if it has written. */
  hasChanged = false
  /** True if it was a write without a change. */
  isNoop = false
  /** Name of the fault that affected it; '' for none. */
  fault = ''
  /** Called after a write for it. */
  onCommitted: (() => void) | undefined
  /** Its number in the log of requests if it was recorded before its end; otherwise -1. */
  logged = -1
  readonly texts: TextThread | undefined
  /** The sent body for the log of requests; undefined if none was read, or the log stores none. */
  body: Uint8Array | undefined
  /** The counts that include it as a request in flight. */
  #countedIn: InFlightCounts | undefined
  readonly #isAudited: boolean
  readonly #keepsBodies: boolean
  readonly #negotiator: Negotiator
  #negotiated: Negotiated | undefined

  constructor(
    exchange: Exchange,
    startedMs: number,
    { requestTimeoutMs, pathPrefix, negotiator, draws, texts, isAudited = false, keepsBodies = false }: RequestOptions,
  ) {
    this.exchange = exchange
    this.texts = texts
    this.#negotiator = negotiator
    this.#isAudited = isAudited
    this.#keepsBodies = keepsBodies
    this.method = exchange.method
    this.auditId = auditIdOf(exchange, draws.auditId)
    this.startedMs = startedMs
    this.deadlineMs = startedMs + requestTimeoutMs
    const { path, moment, query } = splitTarget(exchange.target, pathPrefix)
    this.path = path
    this.moment = moment
    this.query = query
    this.info = parseRequestInfo({ method: this.method, path, isWatch: !query.isEmpty && queryBoolean(query, 'watch') })
  }

  /**
   * True for a watch, a log, a proxy, a profile, a control request, or a tunnel, which may last. Such requests have no deadline and do not count as in
   * flight.
   */
  get isLongRunning(): boolean {
    const { info } = this
    if (info.kind === 'resource') {
      if (info.verb === 'watch' || info.subresource === 'log' || info.subresource === 'proxy') return true
    } else if (info.path.startsWith('/debug/pprof/') || isControlPath(info.path)) return true
    return this.exchange.upgrade !== undefined
  }

  /** True for a request by a part of this process. */
  get isInternal(): boolean {
    return this.exchange.peer.kind === 'internal'
  }

  get isWrite(): boolean {
    return writingMethods.has(this.method)
  }

  /** Counts it as a request in flight until it leaves, unless it may last. */
  enter(counts: InFlightCounts): void {
    if (this.isLongRunning) return
    this.#countedIn = counts
    this.#count(counts, 1)
  }

  /** Releases its seat, and no longer counts it as in flight. */
  leave(): void {
    this.seat?.release()
    this.seat = undefined
    if (this.#countedIn !== undefined) this.#count(this.#countedIn, -1)
    this.#countedIn = undefined
  }

  #count(counts: InFlightCounts, change: 1 | -1): void {
    const { isWrite } = this
    const kind = isWrite ? 'writesInFlight' : 'readsInFlight'
    counts[kind] += change
    counts.loadMeter?.worked(isWrite, counts[kind])
  }

  /** The formats that the client accepts. */
  get negotiated(): Negotiated {
    if (this.#negotiated !== undefined) return this.#negotiated
    const accept = this.exchange.header('accept') ?? ''
    const { known } = this.#negotiator
    this.#negotiated = accept === '' ? acceptsAnything : (known.get(accept) ?? this.#negotiator.read(accept))
    return this.#negotiated
  }

  /** True if CBOR is accepted and returned. */
  get hasCbor(): boolean {
    return this.#negotiator.hasCbor
  }

  /** Ignores clauses that ask for a Table; called if the answer cannot be a Table. */
  refuseTable(): void {
    this.#negotiated = { ...this.negotiated, objects: this.negotiated.withoutTable }
  }

  /** Ignores clauses that ask for Protobuf objects; called if the kind has no Protobuf form. */
  refuseProtobuf(): void {
    const { withoutProtobuf } = this.negotiated
    if (withoutProtobuf !== this.negotiated.objects) this.#negotiated = { ...this.negotiated, objects: withoutProtobuf }
  }

  /** The format and the representation of objects. */
  get answer(): { readonly format: Format; readonly representation: Representation } {
    return this.negotiated.objects ?? plainJson
  }

  /** The format of an answer other than an object of a resource; a client that accepts no supported format gets JSON in an error. */
  get plainFormat(): Format {
    return this.negotiated.plain
  }

  /** True if the answer is indented: on request, or for a client that people use by hand. */
  get isPretty(): boolean {
    const asked = this.query.isEmpty ? undefined : this.query.get('pretty')
    if (asked !== undefined) return /^(?:1|t|true)$/i.test(asked)
    if (this.negotiated.isPretty) return true
    // A page of the console indents objects itself.
    if (this.exchange.peer.kind === 'console') return false
    const agent = this.exchange.header('user-agent')
    return agent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(agent)
  }

  /** The body's media type, without parameters. */
  get contentType(): string {
    return mediaTypeOf(this.exchange.header('content-type') ?? '')
  }

  /** True if the bytes of the body are stored. */
  get storesBody(): boolean {
    return this.#keepsBodies || this.audit !== undefined
  }

  /** Passes the body to those that store it. */
  takeBody(bytes: Uint8Array): void {
    if (this.#keepsBodies) this.body = bytes
    this.audit?.takeBody(this.contentType, bytes)
  }

  /** Releases the parts that only the beginning of an answer needs, as there may be ten thousand watches. */
  goOn(): void {
    this.goesOn = true
    this.query = emptyQuery
    this.#negotiated = undefined
  }

  /** The object of a key was written or deleted for it. */
  committed(key: string, revision: number): void {
    this.hasChanged = true
    this.revision = revision
    this.writtenName = key.slice(key.lastIndexOf('/') + 1)
    const { onCommitted } = this
    // A deletion of many objects commits many times.
    this.onCommitted = undefined
    onCommitted?.()
  }

  /** Adds a warning to the answer. */
  warn(text: string): void {
    this.warnings ??= new Warnings()
    this.warnings.add(text)
  }

  /** Adds an annotation for the audit events. The first value of a key stays. */
  annotate(key: string, value: string): void {
    if (!this.#isAudited) return
    this.annotations ??= {}
    this.annotations[key] ??= value
  }

  /** Adds an annotation for events of level `Request` and above. */
  annotateBody(key: string, value: string): void {
    if (!this.#isAudited) return
    this.bodyAnnotations ??= {}
    this.bodyAnnotations[key] ??= value
  }
}

/** False for a request that may last, as time passes meanwhile. The beginning of a watch counts. */
export function countsAsWork({ info, isLongRunning }: GatewayRequest): boolean {
  return !isLongRunning || (info.kind === 'resource' && info.verb === 'watch')
}

const noUser: User = Object.freeze({ name: '', uid: '', groups: [], extra: {} })

const plainJson = { format: 'json', representation: { kind: 'object' } } as const

function auditIdOf(exchange: Exchange, draw: () => string): string {
  const given = exchange.header('audit-id')
  return given !== undefined && given !== '' && given.length <= 64 ? given : draw()
}

/** True if a GET of this path and query is a watch. */
export function isWatchTarget(target: string, pathPrefix: string): boolean {
  try {
    const { path, query } = splitTarget(target, pathPrefix)
    const info = parseRequestInfo({ method: 'GET', path, isWatch: !query.isEmpty && queryBoolean(query, 'watch') })
    return info.kind === 'resource' && info.verb === 'watch'
  } catch {
    return false
  }
}

const tunnels: ReadonlySet<string> = new Set(['exec', 'attach', 'portforward'])

/** The connection of a request for this path and query may become a tunnel into a Pod, or carry a log or events as messages of a WebSocket. */
export function upgradeOfTarget(target: string, pathPrefix: string): 'tunnel' | 'log' | 'events' | undefined {
  try {
    const info = parseRequestInfo({ method: 'POST', path: splitTarget(target, pathPrefix).path, isWatch: false })
    if (info.kind === 'resource' && info.resource === 'pods') {
      if (tunnels.has(info.subresource)) return 'tunnel'
      if (info.subresource === 'log') return 'log'
    }
  } catch {
    return undefined
  }
  return isWatchTarget(target, pathPrefix) ? 'events' : undefined
}

function splitTarget(target: string, pathPrefix: string): { path: string; moment?: string; query: Query } {
  if (target.length > limits.targetBytesMax) throw badRequest(`the request target has more than ${limits.targetBytesMax} bytes`)
  const origin = target.startsWith('/') || target === '*' ? target : withoutAuthority(target)
  const mark = origin.indexOf('?')
  const path = decodePath(mark < 0 ? origin : origin.slice(0, mark))
  const query = mark < 0 ? emptyQuery : parseQuery(origin.slice(mark + 1))
  const own = withoutPrefix(path, pathPrefix)
  const past = splitPastPath(own)
  return past === undefined ? { path: own, query } : { ...past, query }
}

/** The absolute form that proxies use: `https://host/path` means `/path`. */
function withoutAuthority(target: string): string {
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*(.*)$/i.exec(target)
  if (match === null) throw badRequest('the request target is not a path')
  const [, rest = ''] = match
  return rest.startsWith('/') ? rest : `/${rest}`
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path
  try {
    return decodeURIComponent(path)
  } catch {
    throw badRequest('the path has a malformed escape')
  }
}

/** A path outside of the prefix becomes an unserved one. */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '') return path
  if (path === prefix) return '/'
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '/outside'
}

/** An owner of a clock. */
interface Clocked {
  readonly clock: Clock
}

/** The parts of a request for calls on its behalf. */
export type CallOrigin = Pick<GatewayRequest, 'deadlineMs' | 'trace' | 'auditId'>

/** Milliseconds until the deadline of a request. */
export function remainingMs(request: Pick<CallOrigin, 'deadlineMs'>, { clock }: Clocked): number {
  return Math.max(0, request.deadlineMs - clock.monotonic())
}

/** The context of calls to other services on behalf of a request. */
export function callContext(request: CallOrigin, parts: Clocked): CallContext {
  return { ...originOf(request), timeoutMs: remainingMs(request, parts) }
}

/** The request of a call. */
export function originOf({ trace, auditId }: Pick<CallOrigin, 'trace' | 'auditId'>): Pick<CallContext, 'traceparent' | 'requestId'> {
  return { traceparent: trace?.span?.traceparent, requestId: auditId }
}
