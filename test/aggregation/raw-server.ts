import { createServer, type TLSSocket } from 'node:tls'
import { portOf } from '@orch/platform'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { onTestFinished } from 'vitest'
import { flavorResources, flavorsPath } from './remote-server.ts'

/** A request as a simple HTTP/1.1 parser reads it from a connection. */
export interface RawRequest {
  /** The connection's number. */
  readonly connection: number
  readonly method: string
  readonly target: string
  /** The lines of the head without the request line. */
  readonly lines: readonly string[]
  readonly body: string
}

/** A remote server that supports only HTTP/1.1 and parses requests strictly as RFC 9112 says. */
export interface RawServer {
  readonly address: string
  /** PEM, in base64. */
  readonly caBundle: string
  /** All received bytes, by connection. */
  readonly bytes: readonly string[]
  /** All requests except those that the server makes for itself. */
  readonly requests: RawRequest[]
  /** Answers all requests except discovery. */
  answer: (request: RawRequest, socket: TLSSocket) => void
  /** The server calls this when a head is complete and the body has not arrived. True means that the function has answered the request. */
  answerHead: (request: Omit<RawRequest, 'body'>, socket: TLSSocket) => boolean
}

export const plainAnswer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

/** Starts the server. It ends with the test unless `finish` ends it earlier. */
export async function aRawServer(finish: (stop: () => void) => void = onTestFinished): Promise<RawServer> {
  const authority = await anAuthority('behind')
  const { certificate, key } = await aCertificate({ issuer: authority, commonName: 'api', use: 'server', dnsNames: ['api.team.svc'] })
  const bytes: string[] = []
  const sockets = new Set<TLSSocket>()
  const raw = {
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    bytes,
    requests: [] as RawRequest[],
    answer: (_request: RawRequest, socket: TLSSocket) => void socket.write(plainAnswer),
    answerHead: (_request: Omit<RawRequest, 'body'>, _socket: TLSSocket) => false,
  }
  const server = createServer({ cert: certificate, key, ALPNProtocols: ['http/1.1'] }, (socket) => {
    const connection = bytes.push('') - 1
    sockets.add(socket)
    let pending = ''
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1')
      bytes[connection] += text
      pending += text
      pending = takeRequests(pending, connection, raw, socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  finish(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return Object.assign(raw, { address: `127.0.0.1:${portOf(server)}` })
}

type Reading = Pick<RawServer, 'requests' | 'answer' | 'answerHead'>

/** Parses all complete requests; returns the remaining bytes. */
function takeRequests(text: string, connection: number, raw: Reading, socket: TLSSocket): string {
  for (let left = text; ; ) {
    const end = left.indexOf('\r\n\r\n')
    if (end < 0) return left
    const [first = '', ...lines] = left.slice(0, end).split('\r\n')
    const [method = '', target = ''] = first.split(' ')
    const head = { connection, method, target, lines }
    if (raw.answerHead(head, socket)) return ''
    const body = readBody(lines, left.slice(end + 4))
    if (body === undefined) return left
    left = body.left
    const request = { ...head, body: body.text }
    if (target === flavorsPath) socket.write(discoveryAnswer)
    else if (isOfServer(head)) socket.write(nothingThere)
    else {
      raw.requests.push(request)
      raw.answer(request, socket)
    }
  }
}

/** Parts of the server request documents and collections at any time. */
function isOfServer({ lines }: Pick<RawRequest, 'lines'>): boolean {
  return lineValue(lines, 'x-remote-user')?.startsWith('system:') === true
}

const nothingThere = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
const discovery = JSON.stringify(flavorResources)
const discoveryAnswer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${discovery.length}\r\n\r\n${discovery}`

/** The value of the last header line of this name. */
export function lineValue(lines: readonly string[], name: string): string | undefined {
  const line = lines.findLast((one) => one.toLowerCase().startsWith(`${name}:`))
  return line?.slice(name.length + 1).trim()
}

/** Undefined: the request is incomplete. */
function readBody(lines: readonly string[], text: string): { readonly text: string; readonly left: string } | undefined {
  if (lineValue(lines, 'transfer-encoding')?.toLowerCase() === 'chunked') return readChunks(text)
  const length = Number(lineValue(lines, 'content-length') ?? 0)
  return text.length < length ? undefined : { text: text.slice(0, length), left: text.slice(length) }
}

function readChunks(text: string): { readonly text: string; readonly left: string } | undefined {
  let body = ''
  for (let left = text; ; ) {
    const lineEnd = left.indexOf('\r\n')
    if (lineEnd < 0) return undefined
    const length = Number.parseInt(left.slice(0, lineEnd), 16)
    const end = lineEnd + 2 + length
    if (left.length < end + 2) return undefined
    if (length === 0) return { text: body, left: left.slice(end + 2) }
    body += left.slice(lineEnd + 2, end)
    left = left.slice(end + 2)
  }
}
