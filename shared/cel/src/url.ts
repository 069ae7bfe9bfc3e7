import { readAddress } from './address.ts'
import { quote } from './quote.ts'

/** The parts of a URL. Host and fragment are decoded, the user is as Go prints it; path and query are as in the text. */
export interface UrlParts {
  readonly scheme: string
  readonly user?: string
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment?: string
}

/** The error of a text that Go's `url.ParseRequestURI` refuses; undefined for an absolute URL or an absolute path. */
export function checkRequestUri(text: string): string | undefined {
  const read = readParts(text, { isRequest: true })
  return typeof read === 'string' ? errorText(text, read) : undefined
}

/** Reads a URL or a relative reference as Go's `url.Parse` does: its parts, or its error. */
export function readUrl(text: string): UrlParts | string {
  const [, plain = '', fragment = ''] = /^([^#]*)#?(.*)$/s.exec(text) ?? []
  const read = readParts(plain, { isRequest: false })
  if (typeof read === 'string') return errorText(plain, read)
  const wrong = checkEscapes(fragment)
  return wrong === undefined ? { ...read, fragment: unescapeText(fragment) } : errorText(text, wrong)
}

function errorText(text: string, why: string): string {
  return `parse ${quote(text)}: ${why}`
}

function readParts(text: string, { isRequest }: { isRequest: boolean }): UrlParts | string {
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  if (text === '' && isRequest) return 'empty url'
  if (text === '*') return { scheme: '', host: '', path: '*', query: '' }
  if (text.startsWith(':')) return 'missing protocol scheme'
  const scheme = (/^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(text)?.[0] ?? '').toLowerCase()
  const [, before = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(scheme === '' ? text : text.slice(scheme.length + 1)) ?? []
  if (!before.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', path: '', query }
    if (isRequest) return 'invalid URI for request'
    if (/^[^/]*:/.test(before)) return 'first path segment in URL cannot contain colon'
  }
  const hasAuthority = before.startsWith('//') && (scheme !== '' || (!isRequest && !before.startsWith('///')))
  const [, authority = '', path = before] = hasAuthority ? (/^\/\/([^/]*)(.*)$/s.exec(before) ?? []) : []
  const [, user, host = ''] = /^(?:(.*)@)?(.*)$/s.exec(authority) ?? []
  const wrong = checkHost(scheme, host) ?? checkUser(user ?? '') ?? checkEscapes(path)
  return wrong ?? { scheme, ...(user !== undefined && { user: printUser(user) }), host: unescapeText(host), path, query }
}

function checkHost(scheme: string, host: string): string | undefined {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) return 'invalid IP-literal'
  if (bracket === 0) return checkLiteral(host)
  const colon = /^https?$/.test(scheme) ? host.indexOf(':') : host.lastIndexOf(':')
  return (colon < 0 ? undefined : checkPort(host.slice(colon))) ?? checkHostUnits(host, (byte) => byte >= 0x80)
}

/** Checks an IPv6 address in brackets, with its zone and port. */
function checkLiteral(host: string): string | undefined {
  const end = host.lastIndexOf(']')
  if (end < 0) return "missing ']' in host"
  const [, address = '', zone = ''] = /^(.*?)(%25.*)?$/s.exec(host.slice(1, end)) ?? []
  const wrong = checkPort(host.slice(end + 1)) ?? checkHostUnits(address, (byte) => byte >= 0x80) ?? checkHostUnits(zone, isZoneByte)
  if (wrong !== undefined) return wrong
  const text = unescapeText(address + zone)
  const octets = readAddress(text)
  if (typeof octets === 'string') return octets === 'zone' ? undefined : `invalid host: ParseAddr(${quote(text)}): ${octets}`
  return octets.length === 4 ? 'invalid IP-literal' : undefined
}

function checkPort(port: string): string | undefined {
  return /^(?::\d*)?$/.test(port) ? undefined : `invalid port ${quote(port)} after host`
}

const hostUnit = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]$/

function isZoneByte(byte: number): boolean {
  return byte === 0x20 || (byte < 0x80 && hostUnit.test(String.fromCharCode(byte)))
}

function checkHostUnits(text: string, mayBeEscaped: (byte: number) => boolean): string | undefined {
  for (const { 0: unit, index } of text.matchAll(/%.{0,2}|[^%]/gs)) {
    const isRight =
      unit === '%25' || (/^%[0-9A-Fa-f]{2}$/.test(unit) ? mayBeEscaped(Number.parseInt(unit.slice(1), 16)) : hostUnit.test(unit))
    if (!isRight) return unit.startsWith('%') ? escapeError(text.slice(index)) : `invalid character ${quote(unit)} in host name`
  }
  return undefined
}

function checkUser(user: string): string | undefined {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return 'net/url: invalid userinfo'
  const [name = '', ...password] = user.split(':')
  return checkEscapes(name) ?? checkEscapes(password.join(':'))
}

function checkEscapes(text: string): string | undefined {
  const wrong = text.search(/%(?![0-9A-Fa-f]{2})/)
  return wrong < 0 ? undefined : escapeError(text.slice(wrong))
}

/** The error names the first three bytes, which may cut a character. */
function escapeError(rest: string): string {
  const bytes = new TextEncoder().encode(rest.slice(0, 4)).subarray(0, 3)
  const whole = utf8.decode(bytes).replace(/\ufffd$/, '')
  const cut = bytes.subarray(new TextEncoder().encode(whole).length)
  return `invalid URL escape "${quote(whole).slice(1, -1)}${Array.from(cut, (byte) => `\\x${byte.toString(16)}`).join('')}"`
}

/** Decodes escaped bytes; a byte order mark is a character. */
export const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function unescapeText(text: string): string {
  return text.includes('%') ? utf8.decode(unescapeBytes(text)) : text
}

function printUser(user: string): string {
  const [name = '', password] =
    /^([^:]*):?(.*)$/s
      .exec(user)
      ?.slice(1)
      .map((part) => escapeBytes(unescapeBytes(part))) ?? []
  return user.includes(':') ? `${name}:${password}` : name
}

/** Escapes bytes as Go does, except unreserved characters and those of `plain`. */
export function escapeBytes(bytes: Iterable<number> = [], plain?: RegExp): string {
  let made = ''
  for (const byte of bytes) {
    const unit = String.fromCharCode(byte)
    made += /[A-Za-z0-9\-_.~$&+,;=]/.test(unit) || plain?.test(unit) ? unit : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return made
}

export function unescapeBytes(text: string): Uint8Array | undefined {
  const bytes = new TextEncoder().encode(text)
  const made: number[] = []
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    if (byte !== 0x25) {
      made.push(byte)
      continue
    }
    const hex = String.fromCharCode(bytes[index + 1] ?? 0, bytes[index + 2] ?? 0)
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return undefined
    made.push(Number.parseInt(hex, 16))
    index += 2
  }
  return Uint8Array.from(made)
}
