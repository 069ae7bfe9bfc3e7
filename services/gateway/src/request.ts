import { randomUUID } from 'node:crypto'
import { badRequest, type User } from '@orch/core'
import type { Exchange } from './exchange/exchange.ts'
import { limits } from './limits.ts'
import { type Format, mediaTypeOf, type Negotiated, negotiate } from './negotiate.ts'
import { emptyQuery, parseQuery, type Query, queryBoolean } from './query.ts'
import { parseRequestInfo, type RequestInfo } from './request-info.ts'

/** A request on its way through the gateway, and what has become known of it. */
export class GatewayRequest {
  readonly exchange: Exchange
  readonly method: string
  readonly auditId: string
  /** Decoded. */
  readonly path: string
  readonly query: Query
  readonly info: RequestInfo
  /** On the monotonic clock. */
  readonly startedMs: number
  /** On the monotonic clock; the request is answered 504 after it. */
  deadlineMs: number
  user: User = nobody
  /** Texts for `Warning` headers. */
  warnings: string[] | undefined
  /** Set by whoever answered. */
  code = 0
  sentBytes = 0
  /** Nothing is served at its path; what it names must not become a label of a metric. */
  isUnserved = true
  #finish: (() => void)[] | undefined
  #negotiated: Negotiated | undefined

  constructor(exchange: Exchange, startedMs: number, requestTimeoutMs: number, pathPrefix: string) {
    this.exchange = exchange
    this.method = exchange.method
    this.auditId = auditIdOf(exchange)
    this.startedMs = startedMs
    this.deadlineMs = startedMs + requestTimeoutMs
    const { path, query } = splitTarget(exchange.target, pathPrefix)
    this.path = path
    this.query = query
    this.info = parseRequestInfo({ method: this.method, path, isWatch: !query.isEmpty && queryBoolean(query, 'watch') })
  }

  /** What the client accepts. */
  get negotiated(): Negotiated {
    this.#negotiated ??= negotiateCached(this.exchange.header('accept'))
    return this.#negotiated
  }

  /** The format of answers; a client that accepts none of ours reads JSON in an error. */
  get format(): Format {
    return this.negotiated.kind === 'format' ? this.negotiated.format : 'json'
  }

  /** Whether the answer is meant for eyes: asked for, or a client that people use by hand. */
  get isPretty(): boolean {
    const asked = this.query.get('pretty')
    if (asked !== undefined) return /^(?:1|t|true)$/i.test(asked)
    if (this.negotiated.kind === 'format' && this.negotiated.isPretty) return true
    const agent = this.exchange.header('user-agent')
    return agent !== undefined && /^(?:curl|Wget|Mozilla\/5\.0)/.test(agent)
  }

  /** The body's media type, without parameters. */
  get contentType(): string {
    return mediaTypeOf(this.exchange.header('content-type') ?? '')
  }

  warn(text: string): void {
    this.warnings ??= []
    if (!this.warnings.includes(text)) this.warnings.push(text)
  }

  /** Calls back when the request has been answered in full. */
  onFinish(callback: () => void): void {
    this.#finish ??= []
    this.#finish.push(callback)
  }

  finish(): void {
    const callbacks = this.#finish
    this.#finish = undefined
    if (callbacks !== undefined) for (const callback of callbacks) callback()
  }
}

const nobody: User = Object.freeze({ name: '', uid: '', groups: [], extra: {} })

const acceptTexts = new Map<string, Negotiated>()

function negotiateCached(accept: string | undefined): Negotiated {
  if (accept === undefined) return negotiate(accept)
  const known = acceptTexts.get(accept)
  if (known !== undefined) return known
  if (acceptTexts.size >= limits.acceptTextsMax) acceptTexts.clear()
  const negotiated = negotiate(accept)
  acceptTexts.set(accept, negotiated)
  return negotiated
}

function auditIdOf(exchange: Exchange): string {
  const given = exchange.header('audit-id')
  return given !== undefined && given !== '' && given.length <= 64 ? given : randomUUID()
}

function splitTarget(target: string, pathPrefix: string): { path: string; query: Query } {
  if (target.length > limits.targetBytesMax) throw badRequest(`the request target has more than ${limits.targetBytesMax} bytes`)
  const origin = target.startsWith('/') || target === '*' ? target : withoutAuthority(target)
  const mark = origin.indexOf('?')
  const path = decodePath(mark < 0 ? origin : origin.slice(0, mark))
  return { path: withoutPrefix(path, pathPrefix), query: mark < 0 ? emptyQuery : parseQuery(origin.slice(mark + 1)) }
}

/** The absolute form that proxies use: `https://host/path` means `/path`. */
function withoutAuthority(target: string): string {
  const match = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*(.*)$/i.exec(target)
  if (match === null) throw badRequest('the request target is not a path')
  const rest = match[1] as string
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

/** Outside the prefix there is nothing: such a path becomes one that is not served. */
function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '') return path
  if (path === prefix) return '/'
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '/outside'
}
