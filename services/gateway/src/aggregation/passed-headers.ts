import type { User } from '@orch/core/contracts'
import { type Exchange, type HeaderFields, headerText } from '../exchange/exchange.ts'
import { withoutTokens } from '../exchange/web-socket-opening.ts'

/** Header fields that are about one connection, not about the message. */
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

/** What a client may not say to the server behind: who asks is said by this server alone. */
const identityPrefixes = ['x-remote-', 'impersonate-']
const identityHeaders: ReadonlySet<string> = new Set(['authorization', 'x-remote-user', 'x-remote-group', 'x-remote-uid'])

/** Fields that this server sets itself, or whose work is done. */
const replaced: ReadonlySet<string> = new Set(['host', 'expect', 'audit-id', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-uri'])

/** What a passed request says beside the client's own words. */
export interface Passing {
  readonly user: User
  readonly auditId: string
  /** Whether the server behind receives the uid of the user. */
  readonly tellsUid: boolean
  /** W3C trace context; absent: the client's own. */
  readonly traceparent: string | undefined
}

/** The header of a request as the server behind receives it: without what is about this connection, and with who asks. */
export function passedRequestHeaders(exchange: Exchange, { user, auditId, tellsUid, traceparent }: Passing): HeaderFields {
  const headers: HeaderFields = {}
  const named = connectionNames(exchange.header('connection'))
  for (const name of exchange.headerNames()) {
    if (hopByHop.has(name) || named.has(name) || replaced.has(name) || isIdentity(name)) continue
    const values = exchange.headerValues(name)
    headers[name] = values.length === 1 ? (values[0] ?? '') : [...values]
  }
  passSubprotocols(headers)
  Object.assign(headers, identityOf(user, tellsUid), {
    'audit-id': auditId,
    'x-forwarded-host': exchange.header('host') ?? exchange.header(':authority') ?? '',
    'x-forwarded-uri': exchange.target,
  })
  const client = [...exchange.headerValues('x-forwarded-for'), exchange.remoteAddress].filter((text) => text !== '')
  if (client.length > 0) headers['x-forwarded-for'] = client.join(', ')
  if (traceparent !== undefined) headers['traceparent'] = traceparent
  return headers
}

/** A token that was offered as a subprotocol is meant for this server. */
function passSubprotocols(headers: HeaderFields): void {
  const passed = withoutTokens(headerText(headers['sec-websocket-protocol']))
  if (passed === undefined) delete headers['sec-websocket-protocol']
  else headers['sec-websocket-protocol'] = passed
}

function isIdentity(name: string): boolean {
  return identityHeaders.has(name) || identityPrefixes.some((prefix) => name.startsWith(prefix))
}

/** Names that `Connection` lists are about this connection too. */
function connectionNames(text: string | undefined): ReadonlySet<string> {
  return new Set((text ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

/** Who asks, as servers behind read it: they believe it of those who show the certificate of a proxy. */
export function identityOf({ name, uid, groups, extra }: User, tellsUid: boolean): HeaderFields {
  const headers: HeaderFields = { 'x-remote-user': toHeader(name) }
  if (groups.length > 0) headers['x-remote-group'] = groups.map(toHeader)
  if (tellsUid && uid !== '') headers['x-remote-uid'] = toHeader(uid)
  for (const [key, values] of Object.entries(extra)) headers[`x-remote-extra-${escapedKey(key)}`] = values.map(toHeader)
  return headers
}

/** Header fields are bytes: those of UTF-8, one character for each. */
function toHeader(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** A key may hold what the name of a header field may not. */
function escapedKey(key: string): string {
  return Array.from(Buffer.from(key.toLowerCase()), (byte) => {
    const character = String.fromCharCode(byte)
    return /[a-z0-9!#$&'*+.^_`|~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

/** The header of an answer as the client receives it. Fields about this server's own pages are not the other server's to set. */
export function passedResponseHeaders(distinct: NodeJS.Dict<string[]>): HeaderFields {
  const headers: HeaderFields = {}
  const named = connectionNames(distinct['connection']?.join(','))
  for (const [name, values = []] of Object.entries(distinct)) {
    if (hopByHop.has(name) || named.has(name) || name.startsWith(':') || name.startsWith('access-control-')) continue
    headers[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return headers
}
