import type { User } from '@orch/core/contracts'
import { isJsonObject, parseObject } from '@orch/core/json'
import { badRequest, failed, methodNotAllowed, StatusError } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { type Exchange, type HeaderFields, mediaTypeOf, type Peer } from '../exchange/exchange.ts'
import type { InProcessExchange, InProcessRequest } from '../exchange/in-process.ts'
import { limits } from './limits.ts'
import { type Session, Sessions } from './sessions.ts'
import { StaticFiles } from './static-files.ts'
import { Tickets } from './tickets.ts'
import { headersOf, streamWatches } from './watch-stream.ts'
import { isWithoutValues, WithoutApplied } from './without-applied.ts'

/** Header with the token of a session, in addition to its cookie. */
const tokenHeader = 'x-csrf-token'

/** Headers of every answer: the page runs only its own files, and sends requests to no other host. */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Headers that would change the user of a session's request, or that no remote server may read. */
const headersOfTheBrowser = ['authorization', 'cookie', tokenHeader, 'origin', 'referer']

/** The dependencies of the console. */
export interface ConsoleParts {
  /** Folder of the files of the page. */
  readonly folder: URL
  readonly clock: Clock
  /** `/base/console`. */
  readonly path: string
  /** Facts about the server for the page. */
  readonly facts: Readonly<Record<string, string>>
  /** Handles a request of the API; the peer of its exchange is the session's. */
  readonly serve: (exchange: Exchange) => void
  /** Opens an in-process request. Its path has the prefix of the server, but not that of the console. */
  readonly open: (request: InProcessRequest, peer: Peer) => InProcessExchange
  readonly isWatch: (target: string) => boolean
}

/** The server side of the console: the files of the page, one-time tickets, sessions, and the API as a session's user. */
export class Console {
  readonly #parts: ConsoleParts
  readonly #files: StaticFiles
  readonly tickets: Tickets
  readonly sessions: Sessions

  constructor(parts: ConsoleParts) {
    this.#parts = parts
    this.#files = new StaticFiles(parts.folder)
    this.tickets = new Tickets(parts.clock)
    this.sessions = new Sessions(parts.clock)
  }

  /** A link that opens one session as the user. `origin`: `https://127.0.0.1:6443`. */
  link(user: User, origin: string): string {
    const ticket = this.tickets.issue(user)
    if (ticket === undefined) throw tooMany('links of the console wait to be opened')
    return `${origin}${this.#parts.path}/#ticket=${ticket}`
  }

  /** Answers a request at a path of the console. `isPlain` is true without TLS. */
  async answer(exchange: Exchange, isPlain: boolean): Promise<void> {
    try {
      await this.#answer(exchange, isPlain)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      sendStatus(exchange, error)
    }
  }

  /** Answers a request over the port without TLS. Refuses other host names that resolve to this machine (DNS rebinding). */
  async answerPlain(exchange: Exchange, port: number): Promise<void> {
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${port}`)
    const given = exchange.headerValues('host')
    if (given.length === 1 && hosts.includes(hostOf(exchange))) return this.answer(exchange, true)
    sendStatus(exchange, failed(403, 'Forbidden', `the request is for another host than ${hosts.join(' or ')}`))
  }

  async #answer(exchange: Exchange, isPlain: boolean): Promise<void> {
    const { path } = this.#parts
    const [place = ''] = exchange.target.slice(path.length).split('?', 1)
    if (place === '') return exchange.send(308, { ...securityHeaders, location: `${path}/` }, '')
    if (place === '/session') return this.#session(exchange, isPlain)
    if (place === '/watches') return this.#watches(exchange, this.#authenticate(exchange, isPlain))
    if (place.startsWith('/api/')) return this.#api(exchange, this.#authenticate(exchange, isPlain))
    allowOnly(exchange, 'GET', 'HEAD')
    if (await this.#files.send(exchange, place === '/' ? 'index.html' : place.slice(1), { ...securityHeaders })) return
    if (place !== '/') throw failed(404, 'NotFound', 'the console has no such file', { details: {} })
    throw failed(503, 'ServiceUnavailable', 'the files of the console were not built')
  }

  async #session(exchange: Exchange, isPlain: boolean): Promise<void> {
    allowOnly(exchange, 'GET', 'POST', 'DELETE')
    if (exchange.method === 'POST') return this.#begin(exchange, isPlain)
    const session = this.#authenticate(exchange, isPlain)
    if (exchange.method === 'GET') return sendJson(exchange, 200, this.#describe(session))
    this.sessions.end(session)
    sendJson(exchange, 200, {}, { 'set-cookie': printCookie(exchange, { path: this.#parts.path, isPlain, value: '', seconds: 0 }) })
  }

  /** A ticket becomes a session. */
  async #begin(exchange: Exchange, isPlain: boolean): Promise<void> {
    refuseOthers(exchange, isPlain)
    const { ticket } = await readJson(exchange)
    const user = typeof ticket === 'string' ? this.tickets.redeem(ticket) : undefined
    if (user === undefined) throw failed(401, 'Unauthorized', 'the link has been used, has expired, or is not one of this server')
    const opened = this.sessions.begin(user)
    if (opened === undefined) throw tooMany('sessions of the console are open')
    const seconds = limits.sessionMs / 1000
    const cookie = printCookie(exchange, { path: this.#parts.path, isPlain, value: opened.cookie, seconds })
    sendJson(exchange, 201, { token: opened.token, ...this.#describe(opened.session) }, { 'set-cookie': cookie })
  }

  #describe({ peer, expires }: Session): object {
    const { name, groups } = peer.user
    return { user: { name, groups }, expires, server: this.#parts.facts }
  }

  /** The session of a request: by cookie and token, only from a page of the console. */
  #authenticate(exchange: Exchange, isPlain: boolean): Session {
    refuseOthers(exchange, isPlain)
    const session = this.sessions.find(cookiesOf(exchange, cookieName(exchange)), exchange.header(tokenHeader) ?? '')
    if (session === undefined) throw failed(401, 'Unauthorized', 'there is no such session of the console; open a new link')
    return session
  }

  #api(exchange: Exchange, session: Session): void | Promise<void> {
    exchange.dropHeaders(headersOfTheBrowser)
    exchange.peer = session.peer
    hold(session, exchange)
    if (exchange.method === 'GET' && isWithoutValues(exchange.header('accept') ?? '')) return this.#withoutApplied(exchange, session)
    this.#parts.serve(exchange)
  }

  /** Answers with objects in a form without their values, including the annotation of `kubectl apply`. */
  async #withoutApplied(exchange: Exchange, { peer }: Session): Promise<void> {
    const path = exchange.target.slice(this.#parts.path.length + '/api'.length)
    const asked = this.#parts.open({ method: 'GET', path, headers: headersOf(exchange) }, peer)
    exchange.onClose(() => asked.destroy())
    const { status, headers, body } = await asked.response
    const { 'content-length': _, ...others } = headers
    exchange.begin(
      status,
      Object.fromEntries(Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    )
    const filter = new WithoutApplied()
    try {
      for await (const bytes of body) if (!exchange.write(filter.pass(bytes))) await exchange.drained()
    } catch {
      return exchange.destroy()
    }
    exchange.write(filter.end())
    exchange.end()
  }

  async #watches(exchange: Exchange, session: Session): Promise<void> {
    allowOnly(exchange, 'POST')
    if (session.streams >= limits.streamsPerSessionMax) throw tooMany('streams of this session are open')
    session.streams += 1
    exchange.onClose(() => {
      session.streams -= 1
    })
    hold(session, exchange)
    const { watches } = await readJson(exchange)
    if (!isJsonObject(watches)) throw badRequest('watches: must be a map of watches by a name')
    if (exchange.isClosed) return
    const { open, isWatch } = this.#parts
    const headers = { ...securityHeaders, 'content-type': 'application/jsonl', 'cache-control': 'no-store' }
    streamWatches(exchange, watches, { isWatch, headers, open: (request) => open(request, session.peer) })
  }

  /** Ends all sessions. */
  close(): void {
    this.sessions.close()
  }
}

/** The request ends with its session. */
function hold({ open }: Session, exchange: Exchange): void {
  open.add(exchange)
  exchange.onClose(() => open.delete(exchange))
}

function tooMany(what: string): StatusError {
  return failed(429, 'TooManyRequests', `too many ${what}`)
}

function refuseOthers(exchange: Exchange, isPlain: boolean): void {
  if (!isOwnOrigin(exchange, isPlain)) throw failed(403, 'Forbidden', 'only a page of the console of this server may ask this')
}

function allowOnly({ method }: Exchange, ...methods: string[]): void {
  if (!methods.includes(method)) throw methodNotAllowed()
}

async function readJson(exchange: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const type = mediaTypeOf(exchange.header('content-type') ?? '')
  if (type !== 'application/json') throw failed(415, 'UnsupportedMediaType', 'the body must be application/json')
  const outcome = await exchange.readBody(limits.bodyBytesMax)
  if (outcome.kind === 'tooLarge') throw failed(413, 'RequestEntityTooLarge', `the body has more than ${limits.bodyBytesMax} bytes`)
  if (outcome.kind === 'broken') throw badRequest('the body has been broken off')
  const value = parseObject(outcome.bytes)
  if (value === undefined) throw badRequest('the body must be a map in JSON')
  return value
}

interface CookieOptions {
  readonly path: string
  readonly isPlain: boolean
  readonly value: string
  readonly seconds: number
}

function printCookie(exchange: Exchange, { path, isPlain, value, seconds }: CookieOptions): string {
  const flags = `Path=${path}/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isPlain ? '' : '; Secure'}`
  return `${cookieName(exchange)}=${value}; ${flags}`
}

function sendStatus(exchange: Exchange, { status }: StatusError): void {
  const allow: HeaderFields = status.code === 405 ? { allow: 'GET, HEAD, POST, DELETE' } : {}
  sendJson(exchange, status.code, status, allow)
}

function sendJson(exchange: Exchange, code: number, value: object, headers: HeaderFields = {}): void {
  const common = { ...securityHeaders, 'content-type': 'application/json', 'cache-control': 'no-store' }
  exchange.send(code, { ...common, ...headers }, `${JSON.stringify(value)}\n`)
}

/** The host that a request is for: `127.0.0.1:8443`. */
function hostOf(exchange: Exchange): string {
  return exchange.header(':authority') ?? exchange.header('host') ?? ''
}

/**
 * True if a page of the console has sent the request. Pages at other ports of the host belong to the same site, so that the browser sends them cookies
 * of `SameSite=Strict`. A request that may change something must have an origin.
 */
function isOwnOrigin(exchange: Exchange, isPlain: boolean): boolean {
  const [origin, site] = [exchange.header('origin'), exchange.header('sec-fetch-site')]
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined) return exchange.method === 'GET' || exchange.method === 'HEAD'
  return origin === `${isPlain ? 'http' : 'https'}://${hostOf(exchange)}`
}

/** All ports of a host share cookies; the name distinguishes those of several servers. */
function cookieName(exchange: Exchange): string {
  return `console-session-${/:(\d{1,5})$/.exec(hostOf(exchange))?.[1] ?? '443'}`
}

/** The values of a cookie, as sent. Invalid cookies are skipped. */
function cookiesOf(exchange: Exchange, name: string): string[] {
  const pairs = (exchange.header('cookie') ?? '').split(/[;,]/, limits.cookiesReadMax).map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
