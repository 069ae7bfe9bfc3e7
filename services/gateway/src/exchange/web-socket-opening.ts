import type { IncomingMessage } from 'node:http'

/** True if a request is a complete WebSocket handshake (RFC 6455, section 4.2.1), which only a GET can be. */
export function opensWebSocket({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { upgrade = '', 'sec-websocket-key': key = '', 'sec-websocket-version': version = '' } = headers
  return method === 'GET' && isWebSocket(upgrade) && /^[+/0-9A-Za-z]{22}==$/.test(key) && version === '13'
}

/** True if the `Upgrade` header asks for a WebSocket. */
export function isWebSocket(upgrade: string | undefined): boolean {
  return upgrade?.toLowerCase() === 'websocket'
}

/** Subprotocols that the client offers, in order. */
export function offeredSubprotocols(header: string | undefined): string[] {
  return (header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** A token as a subprotocol, since a browser cannot send `Authorization` with a WebSocket: the domain of the API, and the token in base64url. */
export function bearerSubprotocol(name: string): { readonly domain: string; readonly encoded: string } | undefined {
  const match = /^base64url\.bearer\.authorization\.([a-z0-9.]+)\.([^.]*)$/.exec(name)
  return match === null ? undefined : { domain: match[1] ?? '', encoded: match[2] ?? '' }
}

/** The `Sec-WebSocket-Protocol` header without tokens; undefined if it contains no other protocol. */
export function withoutTokens(header: string | undefined): string | undefined {
  const others = offeredSubprotocols(header).filter((name) => bearerSubprotocol(name) === undefined)
  return others.length === 0 ? undefined : others.join(', ')
}
