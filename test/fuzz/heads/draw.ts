import { Chance } from '../chance.ts'

/** The group version of the remote server with the bad answers. */
export const behindPath = '/apis/taste.example.com/v1alpha1'

/** All bytes that one connection sends, and the number of requests in them. */
export type DrawnConnection = ReturnType<typeof drawConnection>

/** The same seed and index draw the same connection. */
export function drawConnection(seed: number, index: number) {
  const chance = new Chance(seed, index)
  const isHttp2 = chance.oneIn(3)
  const isBehind = !chance.oneIn(4)
  const draw = isBehind ? drawPassed : drawRequest
  // A cut answer ends an HTTP/1.1 connection, and the server does not read the later requests.
  const [pipelinedMax, streamsMax] = isBehind ? [3, 16] : [20, 40]
  const count = 1 + chance.below(isHttp2 ? streamsMax : pipelinedMax)
  const bytes = isHttp2 ? drawFrames(chance, count, isBehind) : Buffer.concat(Array.from({ length: count }, () => draw(chance)))
  return {
    protocol: isHttp2 ? 'h2' : 'http/1.1',
    isAdministrator: isBehind || chance.oneIn(2),
    bytes: isBehind && !chance.oneIn(4) ? bytes : damaged(chance, bytes),
    requests: count,
    /** Most requests of the connection go to the remote server, whose answers take longer. */
    isBehind,
    /** The client cuts the connection as soon as it has written all bytes. */
    isCut: chance.oneIn(isBehind ? 12 : 6),
  }
}

/** Some requests have a changed byte or a missing end. */
function damaged(chance: Chance, bytes: Buffer): Buffer {
  if (chance.oneIn(10) && bytes.length > 0) bytes[chance.below(bytes.length)] = chance.below(256)
  return chance.oneIn(12) ? bytes.subarray(0, chance.below(bytes.length)) : bytes
}

const methods = [
  'GET',
  'GET',
  'GET',
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'get',
  'PRI',
  'M-SEARCH',
]
const targets = [
  ...['/livez', '/version', '/api/v1/pods?watch=1', '/api/v1/pods?watch=1&timeoutSeconds=1', '/api/v1/namespaces/default/configmaps'],
  ...[
    `${behindPath}/flavors`,
    `${behindPath}/namespaces/default/flavors/sweet`,
    `${behindPath}/flavors?watch=1`,
    behindPath,
    `${behindPath}/x/exec`,
  ],
  ...['/', '//', '*', 'http://x/livez', '/%zz', '/a\u00ff', '/livez#a', `/${'a'.repeat(9000)}`, '/api/v1/../pods', '?watch=1'],
]
const values = [
  '',
  '0',
  '4',
  '38',
  '-1',
  '+2',
  '0x4',
  '18446744073709551616',
  'chunked',
  'close',
  'keep-alive',
  'a\tb',
  '\u00ff',
  'x'.repeat(5000),
]
const names = [
  'Host',
  'Audit-Id',
  'Accept',
  'Content-Type',
  'X-Remote-User',
  'X_Remote_User',
  'Impersonate-User',
  'Cookie',
  'Authorization',
  'Origin',
]
const fieldSets: readonly (readonly string[])[] = [
  ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'],
  ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: short', 'Sec-WebSocket-Version: 13'],
  ['Connection: Upgrade', 'Upgrade: SPDY/3.1'],
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
  ['Sec-WebSocket-Protocol: a, base64url.bearer.authorization.orch.io.eA'],
  ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'],
  ['Content-Length: 4'],
  ['Content-Length: 38'],
  ['Content-Length: 0'],
  ['Transfer-Encoding: chunked'],
  ['Transfer-Encoding: gzip, chunked'],
  ['Transfer-Encoding: identity'],
  ['Connection: content-length, transfer-encoding'],
  ['Connection: close'],
  ['Trailer: x, content-length'],
  ['TE: trailers'],
  ['Expect: 100-continue'],
  ['Expect: what'],
  ['Accept-Encoding: gzip'],
  ['Accept: application/json;as=Table;g=meta.k8s.io;v=v1'],
  ['Impersonate-User: a', 'Impersonate-Extra-%zz: b'],
]
const bodies = [
  ...[
    '',
    '',
    'abcd',
    '{"kind":"ConfigMap","apiVersion":"v1"}',
    '4\r\nabcd\r\n0\r\n\r\n',
    '4\r\nabcd\r\n0\r\nX-A: b\r\n\r\n',
    'ffffffffffffffff\r\nx',
    '\r\n',
  ],
  ...[
    'GET /livez HTTP/1.1\r\nHost: smuggled\r\n\r\n',
    '\u0081\u0085\u0000\u0000\u0000\u0000hello',
    '\u0088\u0080\u0000\u0000\u0000\u0000',
    '\u0082\u00ff\u00ff',
  ],
]

function drawRequest(chance: Chance): Buffer {
  const version = chance.oneIn(15) ? chance.pick(['1.0', '2.0', '0.9', '1.1 ']) : '1.1'
  const fields = [
    ...(chance.oneIn(30) ? [] : ['Host: x']),
    ...(chance.oneIn(2) ? [] : chance.several(4, () => chance.pick(fieldSets)).flat()),
    ...(chance.oneIn(2) ? [] : chance.several(3, () => `${chance.pick(names)}: ${chance.pick(values)}`)),
  ]
  const lineEnd = chance.oneIn(40) ? '\n' : '\r\n'
  const head = [`${chance.pick(methods)} ${chance.pick(targets)} HTTP/${version}`, ...fields].join(lineEnd)
  return Buffer.from(`${head}${lineEnd}${lineEnd}${chance.pick(bodies)}`, 'latin1')
}

/** Requests that are valid enough for the server to forward most of them. */
function drawPassed(chance: Chance): Buffer {
  if (chance.oneIn(6)) return drawRequest(chance)
  const body = chance.pick(['', '', 'abcd'])
  const fields = ['Host: x', ...(body === '' ? [] : ['Content-Length: 4']), ...(chance.oneIn(3) ? chance.pick(mildFields) : [])]
  const head = [`${chance.pick(passedMethods)} ${chance.pick(passedTargets)} HTTP/1.1`, ...fields].join('\r\n')
  return Buffer.from(`${head}\r\n\r\n${body}`, 'latin1')
}

const passedMethods = ['GET', 'GET', 'GET', 'POST', 'DELETE', 'HEAD', 'OPTIONS']
const passedTargets = ['', '?watch=1', '?timeout=1s', '/sweet', '/sweet/exec'].map((end) => `${behindPath}/flavors${end}`)
const mildFields = [
  ['Trailer: x'],
  ['TE: trailers'],
  ['Expect: 100-continue'],
  ['Connection: content-length'],
  ['X_Remote_User: root'],
  ...fieldSets.slice(0, 3),
]

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

function drawFrames(chance: Chance, count: number, isBehind: boolean): Buffer {
  const frames = [preface, frame(4, 0, 0, Buffer.alloc(0))]
  // A head that ends a stream or the connection keeps the requests from the remote server.
  const rarely = isBehind ? 10 : 1
  for (let stream = 1; stream < 2 * count; stream += 2) {
    const [isWithBody, isSplit] = [chance.oneIn(2), chance.oneIn(12)]
    const fields = isBehind && !chance.oneIn(6) ? drawPassedFields(chance) : drawFields(chance)
    frames.push(frame(1, (isWithBody ? 0 : 1) | (isSplit ? 0 : 4), stream, isSplit ? fields.subarray(0, 5) : fields))
    if (isSplit) frames.push(frame(9, 4, stream, fields.subarray(5)))
    if (isWithBody) frames.push(frame(0, chance.oneIn(3) ? 0 : 1, stream, Buffer.from(chance.pick(bodies), 'latin1')))
    if (isWithBody && chance.oneIn(6)) frames.push(frame(1, 5, stream, Buffer.concat([field('x-a', 'b'), field('content-length', '9')])))
    if (chance.oneIn(4 * rarely)) frames.push(frame(3, 0, stream, Buffer.from([0, 0, 0, chance.below(14)])))
    if (chance.oneIn(20 * rarely)) frames.push(frame(8, 0, chance.below(2) * stream, Buffer.from([0x7f, 0xff, 0xff, chance.below(256)])))
    if (chance.oneIn(60 * rarely)) frames.push(frame(chance.below(14), chance.below(256), chance.below(9), drawBytes(chance, 20)))
  }
  return Buffer.concat(frames)
}

function drawFields(chance: Chance): Buffer {
  const own: [string, string][] = [
    [':method', chance.pick(methods)],
    [':scheme', 'https'],
    [':path', chance.pick(targets)],
    [':authority', 'x'],
  ]
  if (chance.oneIn(25)) own.splice(chance.below(4), 1)
  const others = chance.several(4, (): [string, string] => {
    const [name = '', value = ''] = (
      chance.oneIn(2) ? chance.pick(chance.pick(fieldSets)) : `${chance.pick(names)}: ${chance.pick(values)}`
    ).split(': ')
    return [chance.oneIn(10) ? name : name.toLowerCase(), value]
  })
  return Buffer.concat([...own, ...others].map(([name, value]) => field(name, value)))
}

function drawPassedFields(chance: Chance): Buffer {
  const own = [
    [':method', chance.pick(passedMethods)],
    [':scheme', 'https'],
    [':path', chance.pick(passedTargets)],
    [':authority', 'x'],
  ] as const
  const others = chance.oneIn(4)
    ? ([
        ['trailer', 'x'],
        ['x_remote_user', 'root'],
      ] as const)
    : []
  return Buffer.concat([...own, ...others].map(([name, value]) => field(name, value)))
}

function drawBytes(chance: Chance, bound: number): Buffer {
  return Buffer.from(chance.several(bound, () => chance.below(256)))
}

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A header field that is never indexed (RFC 7541, section 6.2.2). */
function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), ...[name, value].map((text) => Buffer.concat([prefixed(text.length), Buffer.from(text, 'latin1')]))])
}

function prefixed(length: number): Buffer {
  if (length < 127) return Buffer.of(length)
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

const goodAnswer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
const answers = [
  ...[
    '',
    'garbage\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Len',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}',
    goodAnswer,
    `${goodAnswer}${goodAnswer}`,
  ],
  ...['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ...['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\n{}\r\n0\r\nX: a\r\nEtag: b\r\nEtag: c\r\n\r\n'],
  ...['HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\u0081\u0002hi', 'HTTP/1.1 999 What\r\n\r\n'],
  ...[
    'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ],
  ...[
    'HTTP/1.1 302 Found\r\nLocation: //x\r\n\r\n',
    'HTTP/1.0 200 OK\r\n\r\n{}',
    'HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 2\r\n\r\n{}',
  ],
  ...['HTTP/1.1 200 OK\r\nEtag: a\r\nEtag: b\r\nSet-Cookie: a\r\nWarning: 299 - "\u00ff"\r\nTrailer: x\r\nContent-Length: 2\r\n\r\n{}'],
]

/** The number of different answers of the remote server. */
export const answerCount = answers.length

/** The remote server's answer to its request of this number, each kind in turn, and true if it then closes the connection. */
export function drawAnswer(seed: number, index: number): { readonly bytes: Buffer; readonly ends: boolean; readonly cuts: boolean } {
  const chance = new Chance(seed + 1, index)
  return { bytes: Buffer.from(answers[(seed + index) % answers.length] ?? '', 'latin1'), ends: chance.oneIn(3), cuts: chance.oneIn(8) }
}
