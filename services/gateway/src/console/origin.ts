import type { Exchange } from '../exchange/exchange.ts'
import { limits } from './limits.ts'

/** The host that a request is for: `127.0.0.1:8443`. */
export function hostOf(exchange: Exchange): string {
  return exchange.header(':authority') ?? exchange.header('host') ?? ''
}

/**
 * True if a page of the console has sent the request. Pages at other ports of the host belong to the same site, so that the browser sends them cookies
 * of `SameSite=Strict`. A request that may change something must have an origin.
 */
export function isOwnOrigin(exchange: Exchange, isPlain: boolean): boolean {
  const [origin, site] = [exchange.header('origin'), exchange.header('sec-fetch-site')]
  if (site !== undefined && site !== 'same-origin') return false
  if (origin === undefined) return exchange.method === 'GET' || exchange.method === 'HEAD'
  return origin === `${isPlain ? 'http' : 'https'}://${hostOf(exchange)}`
}

/** All ports of a host share cookies; the name distinguishes those of several servers. */
export function cookieName(exchange: Exchange): string {
  return `console-session-${/:(\d{1,5})$/.exec(hostOf(exchange))?.[1] ?? '443'}`
}

/** The values of a cookie, as sent. Invalid cookies are skipped. */
export function cookiesOf(exchange: Exchange, name: string): string[] {
  const pairs = (exchange.header('cookie') ?? '').split(/[;,]/, limits.cookiesReadMax).map((pair) => pair.trim())
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1))
}
