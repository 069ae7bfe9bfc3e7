import { readAddress } from './address.ts'

/** The parts of a URL. Host and fragment are decoded; user, path and query are as in the text. */
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
  return `parse ${JSON.stringify(text)}: ${why}`
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
  return wrong ?? { scheme, ...(user !== undefined && { user }), host: unescapeText(host), path, query }
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
  const [, address = '', zone = ''] = /^(.*?)(%25.*)?$/.exec(host.slice(1, end)) ?? []
  const wrong = checkPort(host.slice(end + 1)) ?? checkHostUnits(address, (byte) => byte >= 0x80) ?? checkHostUnits(zone, isZoneByte)
  if (wrong !== undefined) return wrong
  const text = unescapeText(address + zone)
  const octets = readAddress(text)
  if (typeof octets === 'string') return octets === 'zone' ? undefined : `invalid host: ParseAddr(${JSON.stringify(text)}): ${octets}`
  return octets.length === 4 ? 'invalid IP-literal' : undefined
}

function checkPort(port: string): string | undefined {
  return /^(?::\d*)?$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`
}

const hostUnit = /^[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"\u0080-\uffff]$/

function isZoneByte(byte: number): boolean {
  return byte === 0x20 || (byte < 0x80 && hostUnit.test(String.fromCharCode(byte)))
}

function checkHostUnits(text: string, mayBeEscaped: (byte: number) => boolean): string | undefined {
  for (const [unit] of text.matchAll(/%.{0,2}|[^%]/gs)) {
    const isRight =
      unit === '%25' || (/^%[0-9A-Fa-f]{2}$/.test(unit) ? mayBeEscaped(Number.parseInt(unit.slice(1), 16)) : hostUnit.test(unit))
    if (!isRight)
      return unit.startsWith('%') ? `invalid URL escape ${JSON.stringify(unit)}` : `invalid character ${JSON.stringify(unit)} in host name`
  }
  return undefined
}

function checkUser(user: string): string | undefined {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return 'net/url: invalid userinfo'
  const [name = '', ...password] = user.split(':')
  return checkEscapes(name) ?? checkEscapes(password.join(':'))
}

function checkEscapes(text: string): string | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text)
  return wrong === null ? undefined : `invalid URL escape ${JSON.stringify(wrong[0])}`
}

function unescapeText(text: string): string {
  return text.includes('%') ? new TextDecoder().decode(unescapeBytes(text)) : text
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
