import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Shown } from './orch-server.ts'

/** One keep-alive HTTP/1.1 connection that does the least a client can do. */
export class Connection {
  readonly socket: TLSSocket
  #pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  #head = ''
  #status = 0
  #left = -1
  #chunked = false
  #body: Buffer[] = []
  #bytes = 0
  #keep = false
  #tail = ''

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => this.#pending?.reject(error))
    socket.on('close', () => this.#pending?.reject(new Error('the connection was closed')))
  }

  static open(port: number, { ca, cert, key }: Shown): Promise<Connection> {
    // Of what is shown, a server beside this port has a port of its own, which must not take its place.
    return Connection.to({ host: '127.0.0.1', port, servername: 'localhost', ca, cert, key })
  }

  /** To any server. */
  static async to(options: ConnectionOptions): Promise<Connection> {
    return await new Promise((resolve, reject) => {
      const socket = connect({ ...options, ALPNProtocols: ['http/1.1'] }, () => {
        socket.setNoDelay(true)
        socket.removeListener('error', reject)
        resolve(new Connection(socket))
      })
      socket.once('error', reject)
    })
  }

  /** Sends ready bytes and waits for the end of the answer. With `keep` the body is kept. */
  send(request: string | Buffer, keep = false): Promise<Answer> {
    this.#keep = keep
    this.#body = []
    this.#bytes = 0
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.socket.write(request)
    })
  }

  close(): void {
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    let from = 0
    if (this.#left < 0 && !this.#chunked) {
      const end = chunk.indexOf('\r\n\r\n')
      if (end < 0) {
        this.#head += chunk.toString('latin1')
        return
      }
      this.#head += chunk.toString('latin1', 0, end)
      from = end + 4
      this.#status = Number(this.#head.slice(9, 12))
      const length = /content-length: (\d+)/i.exec(this.#head)
      this.#chunked = length === null && /transfer-encoding: chunked/i.test(this.#head)
      this.#left = length === null ? 0 : Number(length[1])
      this.#tail = ''
    }
    const body = from === 0 ? chunk : chunk.subarray(from)
    this.#bytes += body.length
    if (this.#keep) this.#body.push(body)
    if (this.#chunked) {
      // The closing chunk is `0\r\n\r\n`; bodies of the bench never end a packet with these bytes otherwise.
      this.#tail = (this.#tail + body.toString('latin1', Math.max(0, body.length - 7))).slice(-7)
      if (this.#tail.endsWith('\r\n0\r\n\r\n') || this.#tail === '0\r\n\r\n') this.#finish()
      return
    }
    this.#left -= body.length
    if (this.#left <= 0) this.#finish()
  }

  #finish(): void {
    const pending = this.#pending
    const whole = this.#keep ? Buffer.concat(this.#body) : undefined
    const body = whole !== undefined && this.#chunked ? joinChunks(whole) : whole
    const answer = { status: this.#status, bytes: this.#bytes, head: this.#head, body }
    this.#head = ''
    this.#left = -1
    this.#chunked = false
    this.#pending = undefined
    pending?.resolve(answer)
  }
}

/** The body that chunks of HTTP/1.1 carry. */
export function joinChunks(chunked: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < chunked.length; ) {
    const end = chunked.indexOf('\r\n', at)
    const size = end < 0 ? Number.NaN : Number.parseInt(chunked.toString('latin1', at, end), 16)
    if (Number.isNaN(size)) throw new Error(`no chunk begins at byte ${at}: ${chunked.toString('latin1', at, at + 40)}`)
    if (size === 0) break
    pieces.push(chunked.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return Buffer.concat(pieces)
}

export interface Answer {
  readonly status: number
  readonly bytes: number
  readonly head: string
  readonly body: Buffer | undefined
}

export function getRequest(path: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ host: 'localhost', accept: 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

/** A text is sent as it is, anything else as JSON. */
export function bodyRequest(method: string, path: string, body: unknown, type = 'application/json'): Buffer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

/** Requests per second over `connections`, each sending the next request when the answer is complete. */
export async function loadHttp1(
  connections: readonly Connection[],
  next: () => string | Buffer,
  { durationMs, expected }: { durationMs: number; expected: number },
): Promise<{ perSecond: number; count: number; bytesPerSecond: number }> {
  const began = performance.now()
  let count = 0
  let bytes = 0
  const loop = async (connection: Connection): Promise<void> => {
    while (performance.now() - began < durationMs) {
      const answer = await connection.send(next())
      if (answer.status !== expected) throw new Error(`answered ${answer.status} where ${expected} was expected: ${answer.head}`)
      count++
      bytes += answer.bytes
    }
  }
  await Promise.all(connections.map(loop))
  const seconds = (performance.now() - began) / 1000
  return { perSecond: count / seconds, count, bytesPerSecond: bytes / seconds }
}

export async function openConnections(count: number, port: number, credentials: Shown): Promise<Connection[]> {
  return await Promise.all(Array.from({ length: count }, () => Connection.open(port, credentials)))
}
