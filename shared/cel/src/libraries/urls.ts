import { type Implementations, on, onText } from '../implementation.ts'
import { checkRequestUri, escapeBytes, readUrl, type UrlParts, unescapeBytes, utf8 } from '../url.ts'
import { CelError, Opaque } from '../values/values.ts'

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
    return escapeBytes(unescapeBytes(path), /[/:@]/)
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

function parseUrl(text: string): Url | CelError {
  const read = checkRequestUri(text) ?? readUrl(text)
  return typeof read === 'string' ? new CelError(`URL parse error during conversion from string: ${read}`) : new Url(text, read)
}

function unescapeQuery(text: string): string | undefined {
  const bytes = unescapeBytes(text.replaceAll('+', ' '))
  return bytes === undefined ? undefined : utf8.decode(bytes)
}

/** The functions of URLs. */
export const urlFunctions: Implementations = {
  url: onText(parseUrl),
  isURL: onText((text) => checkRequestUri(text) === undefined),
  getScheme: on(Url, (url) => url.scheme),
  getHost: on(Url, (url) => url.host),
  getHostname: on(Url, (url) => url.hostname),
  getPort: on(Url, (url) => url.port),
  getEscapedPath: on(Url, (url) => url.escapedPath),
  getQuery: on(Url, (url) => url.query),
}
