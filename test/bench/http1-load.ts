import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Shown } from './orch-server.ts'

/** The longest wait for a connection and for the end of an answer; kube-apiserver gives up on a request after the same time. */
const waitMsMax = 60_000

interface ConnectionBounds {
  readonly waitMsMax: number
}

interface Pending {
  readonly request: string | Buffer
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
  readonly deadline: NodeJS.Timeout
}

/** The connection ended before the first byte of the answer. */
class UnansweredError extends Error {}

/** One keep-alive HTTP/1.1 connection with as little work for the client as possible. The client reopens the connection after the server has closed it. */
export class Connection {
  readonly #options: ConnectionOptions
  readonly #bounds: ConnectionBounds
  #socket: TLSSocket
  #isClosed = false
  #pending: Pending | undefined
  #head = ''
  #status = 0
  #left = -1
  #chunked = false
  #body: Buffer[] = []
  #bytes = 0
  #keep = false
  #tail = ''

  private constructor(socket: TLSSocket, options: ConnectionOptions, bounds: ConnectionBounds) {
    this.#options = options
    this.#bounds = bounds
    this.#socket = socket
    this.#listen(socket)
  }

  static open(port: number, { ca, cert, key }: Shown): Promise<Connection> {
    // A server at another port has other certificates, which must not replace these.
    return Connection.to({ host: '127.0.0.1', port, servername: 'localhost', ca, cert, key })
  }

  /** Opens a connection to any server. */
  static async to(options: ConnectionOptions, bounds: ConnectionBounds = { waitMsMax }): Promise<Connection> {
    return new Connection(await openSocket(options, bounds), options, bounds)
  }

  /** The present socket; another socket after the client has reopened the connection. */
  get socket(): TLSSocket {
    return this.#socket
  }

  /**
   * Sends ready bytes and waits for the end of the answer. With `keep` the body is kept.
   * The client repeats a GET once if the server closed the connection without a byte of an answer, and any request whose answer is a 408: the server
   * ended the idle connection before it received the request.
   */
  async send(request: string | Buffer, keep = false): Promise<Answer> {
    const answer = await this.#sendOnce(request, keep)
    if (answer.status !== 408) return answer
    this.#socket.destroy()
    return await this.#exchange(request, keep)
  }

  async #sendOnce(request: string | Buffer, keep: boolean): Promise<Answer> {
    try {
      return await this.#exchange(request, keep)
    } catch (error) {
      if (!(error instanceof UnansweredError) || this.#isClosed || !requestLineOf(request).startsWith('GET ')) throw error
      return await this.#exchange(request, keep)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  async #exchange(request: string | Buffer, keep: boolean): Promise<Answer> {
    if (this.#isClosed) throw new Error(`${requestLineOf(request)}: the connection was closed by its owner`)
    if (this.#socket.destroyed || this.#socket.readableEnded) await this.#reopen()
    this.#keep = keep
    this.#body = []
    this.#bytes = 0
    return await new Promise((resolve, reject) => {
      const deadline = setTimeout(() => this.#giveUp(), this.#bounds.waitMsMax)
      this.#pending = { request, resolve, reject, deadline }
      this.#socket.write(request)
    })
  }

  async #reopen(): Promise<void> {
    this.#socket.destroy()
    this.#beginAnswer()
    this.#socket = await openSocket(this.#options, this.#bounds)
    this.#listen(this.#socket)
  }

  /** The client ignores events of a replaced socket. */
  #listen(socket: TLSSocket): void {
    const whilePresent =
      <T extends unknown[]>(act: (...args: T) => void) =>
      (...args: T) => {
        if (socket === this.#socket) act(...args)
      }
    socket.on(
      'data',
      whilePresent((chunk: Buffer) => this.#take(chunk)),
    )
    socket.on(
      'error',
      whilePresent(({ message }: Error) => this.#lose(message)),
    )
    socket.on(
      'close',
      whilePresent(() => this.#lose('the connection was closed')),
    )
  }

  #lose(why: string): void {
    const isUnanswered = this.#head === '' && this.#left < 0
    this.#fail((text) => (isUnanswered ? new UnansweredError(text) : new Error(text)), why)
  }

  #giveUp(): void {
    this.#fail((text) => new Error(text), `no whole answer within ${this.#bounds.waitMsMax / 1000} s`)
    // The client must not take a late answer for the answer to the next request.
    this.#socket.destroy()
  }

  #fail(createError: (text: string) => Error, why: string): void {
    if (this.#pending === undefined) return
    const { request, reject, deadline } = this.#pending
    clearTimeout(deadline)
    this.#pending = undefined
    reject(createError(`${requestLineOf(request)}: ${why}; ${this.#progress()}`))
  }

  /** The received part of the answer, for error messages. */
  #progress(): string {
    if (this.#left < 0 && !this.#chunked) return this.#head === '' ? 'nothing of the answer had come' : 'its head had not come whole'
    const of = this.#chunked ? 'a chunked body without its end' : `a body with ${this.#left} to come`
    return `status ${this.#status} had come, and ${this.#bytes} bytes of ${of}`
  }

  #take(chunk: Buffer): void {
    let body = chunk
    if (this.#left < 0 && !this.#chunked) {
      const joined = this.#head === '' ? chunk : Buffer.concat([Buffer.from(this.#head, 'latin1'), chunk])
      const end = joined.indexOf('\r\n\r\n')
      this.#head = joined.toString('latin1', 0, end < 0 ? joined.length : end)
      if (end < 0) return
      body = joined.subarray(end + 4)
      this.#status = Number(this.#head.slice(9, 12))
      const length = /content-length: (\d+)/i.exec(this.#head)
      this.#chunked = length === null && /transfer-encoding: chunked/i.test(this.#head)
      this.#left = length === null ? 0 : Number(length[1])
      this.#tail = ''
    }
    this.#bytes += body.length
    if (this.#keep) this.#body.push(body)
    if (this.#chunked) {
      // The last chunk is `0\r\n\r\n`; no other packet of the bench's bodies ends with these bytes.
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
    this.#beginAnswer()
    this.#pending = undefined
    clearTimeout(pending?.deadline)
    pending?.resolve(answer)
  }

  #beginAnswer(): void {
    this.#head = ''
    this.#left = -1
    this.#chunked = false
  }
}

/** A socket whose handshake is done. */
function openSocket(options: ConnectionOptions, bounds: ConnectionBounds): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...options, ALPNProtocols: ['http/1.1'] })
    const deadline = setTimeout(() => {
      socket.destroy(new Error(`no connection to ${options.host}:${options.port} within ${bounds.waitMsMax / 1000} s`))
    }, bounds.waitMsMax)
    socket.once('close', () => clearTimeout(deadline))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      clearTimeout(deadline)
      socket.setNoDelay(true)
      socket.removeListener('error', reject)
      resolve(socket)
    })
  })
}

function requestLineOf(request: string | Buffer): string {
  const text = typeof request === 'string' ? request : request.toString('latin1', 0, 300)
  return (text.split(' HTTP/1.1\r\n')[0] ?? '').slice(0, 200)
}

/** Joins the body from HTTP/1.1 chunks. */
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

/** The client sends text unchanged and any other value as JSON. */
export function bodyRequest(method: string, path: string, body: unknown, type = 'application/json'): Buffer {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), bytes])
}

/** Requests per second over `connections`; each connection sends the next request when the answer is complete. */
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
