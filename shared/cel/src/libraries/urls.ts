import { type Implementations, on, onText } from '../implementation.ts'
import { CelError, Opaque } from '../values/values.ts'

interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly path: string
  readonly query: string
}

/** The result of `url(text)`: an absolute URL or an absolute path, parsed as Go does. */
class Url extends Opaque {
  override readonly typeName = 'kubernetes.URL'
  readonly #text: string
  readonly #parts: UrlParts
  #query: Record<string, string[]> | undefined

  constructor(text: string, parts: UrlParts) {
    super()
    this.#text = text
    this.#parts = parts
  }

  override equals(other: Opaque): boolean {
    return other instanceof Url && String(this) === String(other)
  }

  override toString(): string {
    return this.#text
  }

  get scheme(): string {
    return this.#parts.scheme
  }

  get host(): string {
    return this.#parts.host
  }

  get hostname(): string {
    const { host } = this.#parts
    if (host.startsWith('[')) return host.slice(1, host.lastIndexOf(']'))
    const colon = host.lastIndexOf(':')
    return colon < 0 ? host : host.slice(0, colon)
  }

  get port(): string {
    return /:(\d*)$/.exec(this.#parts.host.replace(/^\[.*\]/, ''))?.[1] ?? ''
  }

  get escapedPath(): string {
    const { path } = this.#parts
    if (/^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:@[\]/]|%[0-9A-Fa-f]{2})*$/.test(path)) return path
    return escapePath(unescapeBytes(path) ?? new TextEncoder().encode(path))
  }

  get query(): Record<string, string[]> {
    this.#query ??= this.#readQuery()
    return this.#query
  }

  #readQuery(): Record<string, string[]> {
    const made: Record<string, string[]> = {}
    for (const pair of this.#parts.query.split('&')) {
      if (pair === '' || pair.includes(';')) continue
      const equals = pair.indexOf('=')
      const key = unescapeQuery(equals < 0 ? pair : pair.slice(0, equals))
      const value = unescapeQuery(equals < 0 ? '' : pair.slice(equals + 1))
      if (key === undefined || value === undefined) continue
      if (!Object.hasOwn(made, key)) Object.defineProperty(made, key, { value: [], enumerable: true, configurable: true, writable: true })
      made[key]?.push(value)
    }
    return made
  }
}

export function parseUrl(text: string): Url | CelError {
  const read = readUrl(text)
  if (typeof read === 'string') return new CelError(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${read}`)
  return new Url(text, read)
}

/** The parts of a URL, or its error. */
function readUrl(text: string): UrlParts | string {
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  if (text === '') return 'empty url'
  if (text.startsWith(':')) return 'missing protocol scheme'
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? ''
  const rest = scheme === '' ? text : text.slice(scheme.length + 1)
  if (scheme === '' && !rest.startsWith('/')) return 'invalid URI for request'
  const plain = rest.split('#', 1)[0] ?? ''
  const mark = plain.indexOf('?')
  const before = mark < 0 ? plain : plain.slice(0, mark)
  const query = mark < 0 ? '' : plain.slice(mark + 1)
  if (!before.startsWith('/')) return { scheme: scheme.toLowerCase(), host: '', path: '', query }
  const hasAuthority = scheme !== '' && before.startsWith('//')
  const slash = hasAuthority ? before.indexOf('/', 2) : 0
  const authority = hasAuthority ? before.slice(2, slash < 0 ? undefined : slash) : ''
  const path = hasAuthority ? (slash < 0 ? '' : before.slice(slash)) : before
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const wrong = checkHost(host) ?? checkEscapes(path)
  return wrong ?? { scheme: scheme.toLowerCase(), host, path, query }
}

function checkHost(host: string): string | undefined {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    if (end < 0) return "missing ']' in host"
    const port = host.slice(end + 1)
    return port === '' || /^:\d*$/.test(port) ? undefined : `invalid port ${JSON.stringify(port)} after host`
  }
  const colon = host.lastIndexOf(':')
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) return `invalid port ${JSON.stringify(host.slice(colon))} after host`
  const wrong = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host)
  return wrong === null ? checkEscapes(host) : `invalid character ${JSON.stringify(wrong[0])} in host name`
}

function checkEscapes(text: string): string | undefined {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text)
  return wrong === null ? undefined : `invalid URL escape ${JSON.stringify(wrong[0])}`
}

function unescapeBytes(text: string): Uint8Array | undefined {
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

function unescapeQuery(text: string): string | undefined {
  const bytes = unescapeBytes(text.replaceAll('+', ' '))
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes)
}

function escapePath(bytes: Uint8Array): string {
  let made = ''
  for (const byte of bytes) {
    const unit = String.fromCharCode(byte)
    made += /[A-Za-z0-9\-_.~$&+,/:;=@]/.test(unit) ? unit : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return made
}

/** The functions of URLs. */
export const urlFunctions: Implementations = {
  url: onText(parseUrl),
  isURL: onText((text) => parseUrl(text) instanceof Url),
  getScheme: on(Url, (url) => url.scheme),
  getHost: on(Url, (url) => url.host),
  getHostname: on(Url, (url) => url.hostname),
  getPort: on(Url, (url) => url.port),
  getEscapedPath: on(Url, (url) => url.escapedPath),
  getQuery: on(Url, (url) => url.query),
}
