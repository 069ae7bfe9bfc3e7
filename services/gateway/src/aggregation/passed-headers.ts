import type { User } from '@orch/core/contracts'
import { namesOf, profiles } from '@orch/core/names'
import { type Exchange, type HeaderFields, headerText } from '../exchange/exchange.ts'
import { withoutTokens } from '../exchange/web-socket-opening.ts'

/** Header fields of a connection, not of the message. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** Only this server sets the identity. */
const identityPrefixes = ['x-remote-', 'impersonate-']
const identityHeaders: ReadonlySet<string> = new Set(['authorization', 'x-remote-user', 'x-remote-group', 'x-remote-uid'])

/**
 * Fields that this server sets itself, or that it has already processed. Framing is set from the sent body: a forwarded length with another framing
 * would make the body the next request of the connection.
 */
const replaced: ReadonlySet<string> = new Set([
  'audit-id',
  'content-length',
  'expect',
  'host',
  'trailer',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-uri',
])

/** Single-valued fields. The first of several values is forwarded, as two parsers might use different ones, and HTTP/2 allows only one. */
const singleValued: ReadonlySet<string> = new Set([
  ...['age', 'content-encoding', 'content-language', 'content-length', 'content-location', 'content-md5', 'content-range', 'content-type'],
  ...['date', 'dnt', 'etag', 'expires', 'from', 'if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since'],
  ...['last-modified', 'location', 'max-forwards', 'range', 'referer', 'retry-after', 'tk', 'traceparent', 'upgrade-insecure-requests'],
  ...['user-agent', 'x-content-type-options'],
])

/** Fields that apply to the whole host, which other servers share. */
const ofHost: ReadonlySet<string> = new Set([
  'alt-svc',
  'clear-site-data',
  'expect-ct',
  'nel',
  'public-key-pins',
  'public-key-pins-report-only',
  'report-to',
  'set-cookie',
  'set-cookie2',
  'strict-transport-security',
])

const explainHeaders = profiles.map((profile) => namesOf(profile).explainHeader)

/** Fields of an answer that change how the rest is parsed, so that they cannot be trailers. */
const notInTrailers: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'host',
  'trailer',
])

/** The additions to the client's headers in a forwarded request. */
export interface Passing {
  readonly auditId: string
  /** W3C trace context; by default the client's own. */
  readonly traceparent: string | undefined
}

/** The user of a forwarded request. */
export interface PassedUser {
  readonly user: User
  /** True if the remote server receives the uid of the user. */
  readonly tellsUid: boolean
}

/** The headers of a request for a server that receives its user. */
export function passedRequestHeaders(exchange: Exchange, passing: Passing & PassedUser): HeaderFields {
  return { ...passedHeaders(exchange, passing), ...identityOf(passing.user, passing.tellsUid) }
}

/** The headers of a request for a remote server: without this connection's fields and without any user. */
export function passedHeaders(exchange: Exchange, { auditId, traceparent }: Passing): HeaderFields {
  const headers: HeaderFields = {}
  const named = connectionNames(exchange.header('connection'))
  for (const name of exchange.headerNames()) {
    // Servers that map headers to environment variables treat `_` like `-`.
    if (hopByHop.has(name) || named.has(name) || replaced.has(name) || isIdentity(name) || name.includes('_')) continue
    headers[name] = passedValue(name, exchange.headerValues(name))
  }
  passSubprotocols(headers)
  Object.assign(headers, {
    'audit-id': auditId,
    'x-forwarded-host': exchange.header('host') ?? exchange.header(':authority') ?? '',
    'x-forwarded-uri': exchange.target,
  })
  const client = [...exchange.headerValues('x-forwarded-for'), exchange.remoteAddress].filter((text) => text !== '')
  if (client.length > 0) headers['x-forwarded-for'] = client.join(', ')
  if (traceparent !== undefined) headers['traceparent'] = traceparent
  return headers
}

/** A token in a subprotocol is meant for this server. */
function passSubprotocols(headers: HeaderFields): void {
  const passed = withoutTokens(headerText(headers['sec-websocket-protocol']))
  if (passed === undefined) delete headers['sec-websocket-protocol']
  else headers['sec-websocket-protocol'] = passed
}

function passedValue(name: string, values: readonly string[]): string | string[] {
  return values.length === 1 || singleValued.has(name) ? (values[0] ?? '') : [...values]
}

function isIdentity(name: string): boolean {
  return identityHeaders.has(name) || identityPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Names in `Connection` also belong to this connection. */
function connectionNames(text: string | undefined): ReadonlySet<string> {
  return new Set((text ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

/** The headers with the user, which remote servers trust from a client with the proxy certificate. */
export function identityOf({ name, uid, groups, extra }: User, tellsUid: boolean): HeaderFields {
  const headers: HeaderFields = { 'x-remote-user': toHeader(name) }
  if (groups.length > 0) headers['x-remote-group'] = groups.map(toHeader)
  if (tellsUid && uid !== '') headers['x-remote-uid'] = toHeader(uid)
  for (const [key, values] of Object.entries(extra)) headers[`x-remote-extra-${escapedKey(key)}`] = values.map(toHeader)
  return headers
}

/** Header fields are bytes: this is UTF-8, one character for each byte. */
function toHeader(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Encodes characters of a key that a header name cannot contain. */
function escapedKey(key: string): string {
  return Array.from(Buffer.from(key.toLowerCase()), (byte) => {
    const character = String.fromCharCode(byte)
    return /[a-z0-9!#$&'*+.^_`|~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/** The headers of an answer for the client. */
export function passedResponseHeaders(distinct: NodeJS.Dict<string[]>): HeaderFields {
  const headers: HeaderFields = {}
  const named = connectionNames(distinct['connection']?.join(','))
  for (const [name, values = []] of Object.entries(distinct)) {
    if (!hopByHop.has(name) && !named.has(name) && mayServerSet(name)) headers[name] = passedValue(name, values)
  }
  return headers
}

/** True if a remote server may set a field of an answer; fields about this server's pages and decisions are excluded. */
export function mayServerSet(name: string): boolean {
  return !ofHost.has(name) && !/^(?::|access-control-)/.test(name) && !explainHeaders.some((header) => name.startsWith(header))
}

/** The trailers of an answer. */
export function passedTrailers(distinct: NodeJS.Dict<string[]>): HeaderFields {
  const fields = Object.entries(passedResponseHeaders(distinct)).filter(([name]) => !notInTrailers.has(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, headerText(value) ?? '']))
}
