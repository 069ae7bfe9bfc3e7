import { flavorsPath } from './remote-server.ts'

export const collection = `${flavorsPath}/namespaces/default/flavors`

/** Bytes that the remote server must not read as a request: such a request would come with the proxy's certificate. */
export const smuggled = [
  `GET ${collection}/secret HTTP/1.1`,
  'Host: x',
  'X-Remote-User: root',
  'X-Remote-Group: system:masters',
  '\r\n',
].join('\r\n')

/** A request head and the bytes that follow, over HTTP/1.1. */
export interface OddHead {
  readonly what: string
  readonly method?: string
  readonly version?: string
  readonly target?: string
  readonly fields: readonly string[]
  /** Default: `smuggled`. */
  readonly body?: string
}

const { length } = smuggled
const byLength = `Content-Length: ${length}`
const chunked = 'Transfer-Encoding: chunked'
const inChunks = `${length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
const socket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']

/** Request heads in which two parsers of the same connection could see different requests. */
export const oddHeads: readonly OddHead[] = [
  { what: 'a length that Connection names', fields: ['Connection: content-length', byLength] },
  { what: 'a length that Connection names, at a DELETE', method: 'DELETE', fields: ['Connection: content-length', byLength] },
  { what: 'a length that Connection names, at a POST', method: 'POST', fields: ['Connection: content-length', byLength] },
  { what: 'a length that Connection names in capitals', fields: ['CONNECTION: keep-alive, CONTENT-LENGTH', byLength] },
  { what: 'a length that the second Connection names', fields: ['Connection: keep-alive', 'Connection: content-length', byLength] },
  { what: 'a length that Connection names with tabs', fields: ['Connection: \tcontent-length\t,close', byLength] },
  { what: 'an encoding that Connection names', fields: ['Connection: transfer-encoding', chunked], body: inChunks },
  {
    what: 'an encoding that Connection names, at a DELETE',
    method: 'DELETE',
    fields: ['Connection: transfer-encoding', chunked],
    body: inChunks,
  },
  { what: 'a host that Connection names', fields: ['Connection: host', byLength] },
  { what: 'an identity that Connection names', fields: ['Connection: x-remote-user, x-remote-group', 'X-Remote-User: root', byLength] },
  { what: 'Connection that names itself', fields: ['Connection: connection, content-length', byLength] },
  { what: 'Connection that names what this server sets', fields: ['Connection: audit-id, x-forwarded-for, traceparent', byLength] },
  { what: 'a length that Proxy-Connection names', fields: ['Proxy-Connection: content-length', byLength] },
  { what: 'a length that Keep-Alive names', fields: ['Keep-Alive: content-length', byLength] },
  { what: 'a Trailer beside a length', fields: ['Trailer: x', byLength] },
  { what: 'a Trailer beside a length, at a POST', method: 'POST', fields: ['Trailer: x', byLength] },
  { what: 'a Trailer of framing', fields: ['Trailer: content-length, transfer-encoding', chunked], body: inChunks },
  { what: 'trailers that name a user', fields: ['Trailer: x-remote-user', chunked], body: `2\r\n{}\r\n0\r\nX-Remote-User: root\r\n\r\n` },
  { what: 'a user with underscores', fields: ['X_Remote_User: root', 'X_REMOTE_GROUP: system:masters', byLength] },
  { what: 'a length with an underscore', fields: ['Content_Length: 0', byLength] },
  { what: 'an encoding with an underscore', fields: ['Transfer_Encoding: chunked', byLength] },
  { what: 'a user of this server’s header', fields: ['X-Remote-User: root', 'X-Remote-Extra-A: b', 'X-Remote-Uid: 0', byLength] },
  { what: 'a token for the server behind', fields: ['Proxy-Authorization: Bearer x', byLength] },
  { what: 'TE: trailers', fields: ['TE: trailers', 'Connection: TE', byLength] },
  { what: 'TE: chunked', fields: ['TE: chunked', byLength] },
  {
    what: 'an upgrade to HTTP/2 with a body',
    fields: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk', byLength],
  },
  { what: 'an upgrade with a length', fields: [...socket, byLength] },
  { what: 'an upgrade with chunks', fields: [...socket, chunked], body: inChunks },
  { what: 'an upgrade of a POST with a length', method: 'POST', fields: ['Connection: Upgrade', 'Upgrade: SPDY/3.1', byLength] },
  { what: 'an upgrade that sends on', fields: [...socket] },
  { what: 'an expectation', fields: ['Expect: 100-continue', byLength] },
  { what: 'an expectation that Connection names', fields: ['Connection: expect, content-length', 'Expect: 100-continue', byLength] },
  { what: 'a length with zeros before it', fields: [`Content-Length: 000${length}`] },
  { what: 'one length twice', fields: [byLength, byLength] },
  { what: 'two lengths', fields: ['Content-Length: 0', byLength] },
  { what: 'two lengths in one line', fields: [`Content-Length: 0, ${length}`] },
  { what: 'a length and chunks', fields: [byLength, chunked], body: inChunks },
  { what: 'chunks and no length, then a length', fields: [chunked, 'Content-Length: 0'], body: inChunks },
  { what: 'chunks twice', fields: [chunked, chunked], body: inChunks },
  { what: 'an encoding in front of chunks', fields: ['Transfer-Encoding: gzip, chunked'], body: inChunks },
  { what: 'an encoding after chunks', fields: ['Transfer-Encoding: chunked, identity'], body: inChunks },
  { what: 'an encoding that is none', fields: ['Transfer-Encoding: identity', byLength] },
  { what: 'an encoding with a tab', fields: ['Transfer-Encoding:\tchunked'], body: inChunks },
  { what: 'an encoding with a vertical tab', fields: ['Transfer-Encoding: \u000bchunked'], body: inChunks },
  { what: 'chunks with extensions', fields: [chunked], body: `2;a="\\r\\n";b=c\r\n{}\r\n0;d\r\n\r\n` },
  { what: 'chunks whose sizes have zeros before them', fields: [chunked], body: inChunks.replace(/^/, '0000') },
  { what: 'a chunk of no size', fields: [chunked], body: `\r\n${smuggled}` },
  { what: 'a content encoding of that name', fields: ['Content-Encoding: chunked', byLength] },
  { what: 'a length in HTTP/1.0', version: '1.0', fields: ['Connection: keep-alive, content-length', byLength] },
  { what: 'chunks in HTTP/1.0', version: '1.0', fields: [chunked], body: inChunks },
  { what: 'a target with a scheme', target: `http://behind${collection}/sweet`, fields: ['Connection: content-length', byLength] },
  { what: 'a target with bytes beyond ASCII', target: `${collection}/sweet?\u00ff\u0080`, fields: [byLength] },
  { what: 'a target with a fragment', target: `${collection}/sweet#a?b`, fields: [byLength] },
  { what: 'a line that is continued', fields: ['X-A: b', ` ${byLength}`, byLength] },
  { what: 'a name with a space behind it', fields: [`Content-Length : ${length}`] },
  { what: 'a field of a thousand bytes', fields: [`X-Long: ${'a'.repeat(1000)}`, 'Connection: x-long, content-length', byLength] },
  { what: 'doubled conditions', fields: ['If-Match: "a"', 'If-Match: "b"', 'Etag: a', 'Etag: b', byLength] },
  {
    what: 'fields that proxies know',
    fields: ['X-Forwarded-Uri: /x', 'Forwarded: for=root', 'X-Original-URL: /x', 'Max-Forwards: 0', byLength],
  },
]

/** The bytes of a smuggled request as the user mallory. */
export function bytesOf({ method = 'GET', version = '1.1', target = `${collection}/sweet`, fields, body = smuggled }: OddHead): string {
  const own = ['Host: x', 'Impersonate-User: mallory', 'Impersonate-Group: system:masters', 'Content-Type: text/plain']
  return `${[`${method} ${target} HTTP/${version}`, ...own, ...fields].join('\r\n')}\r\n\r\n${body}`
}

/** An HTTP/2 request: header fields with pseudo-headers, and the body's bytes. */
export interface OddFields {
  readonly what: string
  readonly method?: string
  readonly path?: string
  readonly authority?: string
  readonly fields?: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  readonly trailers?: readonly (readonly [name: string, value: string])[]
}

/** The same cases over HTTP/2, whose framing differs. */
export const oddFields: readonly OddFields[] = [
  { what: 'a body at a GET' },
  { what: 'a body at a DELETE', method: 'DELETE' },
  { what: 'a length', fields: [['content-length', String(length)]] },
  { what: 'a length of nothing before a body', fields: [['content-length', '0']] },
  { what: 'a length that is too short', fields: [['content-length', '10']] },
  { what: 'a length that is too long', fields: [['content-length', '1000']] },
  { what: 'two lengths', fields: [['content-length', '0'], ['content-length', String(length)]] }, // biome-ignore format: pairs
  { what: 'a length that is no number', fields: [['content-length', 'chunked']] },
  { what: 'an encoding', fields: [['transfer-encoding', 'chunked']], body: inChunks },
  { what: 'a connection', fields: [['connection', 'content-length'], ['content-length', String(length)]] }, // biome-ignore format: pairs
  { what: 'an upgrade', fields: [['upgrade', 'websocket']] },
  { what: 'te', fields: [['te', 'trailers'], ['trailer', 'content-length']] }, // biome-ignore format: pairs
  { what: 'a trailer beside a length', fields: [['trailer', 'x'], ['content-length', String(length)]] }, // biome-ignore format: pairs
  { what: 'trailers that name a user', body: '{}', trailers: [['x-remote-user', 'root'], ['content-length', '0']] }, // biome-ignore format: pairs
  { what: 'a user with underscores', fields: [['x_remote_user', 'root'], ['x_remote_group', 'system:masters']] }, // biome-ignore format: pairs
  { what: 'a user in capitals', fields: [['X-Remote-User', 'root']] },
  { what: 'a user of this server’s header', fields: [['x-remote-user', 'root'], ['x-remote-uid', '0']] }, // biome-ignore format: pairs
  { what: 'a host that is not the authority', fields: [['host', 'root']] },
  { what: 'lines in a value', fields: [['x-a', 'b\r\nX-Remote-User: root']] },
  { what: 'a line in a name', fields: [['x-a: b\r\nx-remote-user', 'root']] },
  { what: 'lines in the path', path: `${collection}/sweet HTTP/1.1\r\nX-Remote-User: root\r\nX-A:` },
  { what: 'a space in the path', path: `${collection}/sweet HTTP/1.1` },
  { what: 'lines in the method', method: `GET ${collection}/secret HTTP/1.1\r\nX-Remote-User: root\r\n\r\nGET` },
  { what: 'lines in the authority', authority: 'x\r\nX-Remote-User: root' },
  { what: 'doubled conditions', fields: [['if-match', '"a"'], ['if-match', '"b"'], ['etag', 'a'], ['etag', 'b']] }, // biome-ignore format: pairs
  { what: 'an expectation', fields: [['expect', '100-continue']] },
  { what: 'a path with a fragment', path: `${collection}/sweet#a` },
]
