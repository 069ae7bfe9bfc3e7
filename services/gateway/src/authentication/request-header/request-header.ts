import { type Attempt, type Authentication, none, type RequestAuthenticator, refused } from '../authenticator.ts'
import { keyOfHeader, textOfHeader } from '../header-text.ts'

/** The headers in which a proxy names the user, and the trusted proxies. */
export interface RequestHeaderOptions {
  /** The first header with a value gives the name. Case-insensitive. */
  readonly usernameHeaders: readonly string[]
  /** The first header with a value gives the uid. */
  readonly uidHeaders: readonly string[]
  /** Every value of each is a group. */
  readonly groupHeaders: readonly string[]
  /** Prefixes of headers with extra attributes; the rest of the name is the key. */
  readonly extraHeaderPrefixes: readonly string[]
  /** Allowed common names of the proxies' certificates; empty for every certificate of the proxies' authorities. */
  readonly allowedNames: readonly string[]
}

/** A proxy that authenticates users and has a certificate. Without that certificate its headers are ignored. */
export function createRequestHeaderAuthenticator({ allowedNames, ...headers }: RequestHeaderOptions): RequestAuthenticator {
  const usernameHeaders = headers.usernameHeaders.map(lowerCase)
  const uidHeaders = headers.uidHeaders.map(lowerCase)
  const groupHeaders = headers.groupHeaders.map(lowerCase)
  const prefixes = headers.extraHeaderPrefixes.map(lowerCase)
  return {
    name: 'request-header',
    headers: [...usernameHeaders, ...uidHeaders, ...groupHeaders, ...prefixes.map((prefix) => `${prefix}*`)],
    authenticate(attempt): Authentication {
      const proxy = attempt.peer.kind === 'certificate' || attempt.peer.kind === 'untrusted' ? attempt.peer.proxy : undefined
      if (proxy === undefined) return none
      const name = firstValue(attempt, usernameHeaders)
      if (name === undefined) return none
      // A connection may outlive the certificate that opened it.
      if (proxy.expiresMs <= attempt.nowMs) return refused("the proxy's certificate has expired")
      if (allowedNames.length > 0 && !allowedNames.includes(proxy.commonName)) return refused("the proxy's common name is not allowed")
      const groups = groupHeaders.flatMap((header) => valuesOf(attempt, header))
      const uid = firstValue(attempt, uidHeaders) ?? ''
      return { kind: 'user', method: 'authenticating proxy', user: { name, uid, groups, extra: extraOf(attempt, prefixes) } }
    },
  }
}

function firstValue(attempt: Attempt, headers: readonly string[]): string | undefined {
  for (const header of headers) {
    const [value] = valuesOf(attempt, header)
    if (value !== undefined) return value
  }
  return undefined
}

/** The values sent under a name, one for each time; empty ones are ignored. */
function valuesOf(attempt: Attempt, header: string): string[] {
  return attempt
    .headerValues(header)
    .filter((value) => value !== '')
    .map(textOfHeader)
}

function extraOf(attempt: Attempt, prefixes: readonly string[]): Record<string, readonly string[]> {
  if (prefixes.length === 0) return {}
  const extra: Record<string, string[]> = Object.create(null)
  for (const header of attempt.headerNames()) {
    const prefix = prefixes.find((known) => header.startsWith(known))
    if (prefix === undefined) continue
    const key = keyOfHeader(header.slice(prefix.length))
    extra[key] = [...(extra[key] ?? []), ...attempt.headerValues(header).map(textOfHeader)]
  }
  return extra
}

function lowerCase(name: string): string {
  return name.toLowerCase()
}
