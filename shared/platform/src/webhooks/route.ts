import { posix } from 'node:path'
import type { Address, ServiceAddresses } from './addresses.ts'
import type { WebhookTarget } from './target.ts'

/** The connection to a webhook. */
export interface Route {
  /** The URL for messages. */
  readonly url: string
  /** The host with the port, unless it is the URL's default port. */
  readonly host: string
  /** The path with the query. */
  readonly path: string
  /** The name that the certificate must carry; undefined for the connected host. */
  readonly serverName: string | undefined
  readonly find: (addresses: ServiceAddresses) => Promise<Address>
}

/** The route of a call; the webhook receives its timeout in whole seconds. */
export function routeTo({ place }: WebhookTarget, timeoutMs: number): Route {
  const query = `?timeout=${Math.max(1, Math.ceil(timeoutMs / 1_000))}s`
  switch (place.kind) {
    case 'service': {
      const serverName = `${place.name}.${place.namespace}.svc`
      const host = `${serverName}:${place.port}`
      const path = `${cleanPath(Buffer.from(place.path))}${query}`
      return { url: `https://${host}${path}`, host, path, serverName, find: (addresses) => addresses.find(place) }
    }
    case 'url': {
      const parsed = URL.parse(place.url)
      // Validation accepts some addresses that cannot be reached, such as port 99999.
      if (parsed === null) throw new Error(`parse ${JSON.stringify(place.url)}: invalid URL`)
      const { host, hostname, port, pathname } = parsed
      const bare = hostname.replace(/^\[|\]$/g, '')
      const address = { host: bare, port: port === '' ? 443 : Number(port) }
      const path = `${cleanPath(decodePath(pathname))}${query}`
      return { url: `https://${host}${path}`, host, path, serverName: undefined, find: async (addresses) => addresses.findUrl(address) }
    }
  }
}

/** The path of a redirect; undefined if it leads to another host. */
export function redirectedPath(location: string, { host, path }: Pick<Route, 'host' | 'path'>): string | undefined {
  const from = `https://${host}${path}`
  const to = URL.parse(location, from)
  return to?.protocol === 'https:' && to.host === URL.parse(from)?.host ? `${to.pathname}${to.search}` : undefined
}

/** The bytes of a path, with escapes such as `%41` decoded. */
function decodePath(path: string): Buffer {
  const octets = Buffer.from(path).toString('latin1')
  return Buffer.from(
    octets.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  )
}

/** The path as Go's clients send it: without empty segments, `.`, `..` and a final slash, and with escapes only where needed. */
function cleanPath(bytes: Buffer): string {
  const path = posix.resolve('/', bytes.toString('latin1'))
  return path.replace(/[^\w.~$&+,/:;=@-]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}
