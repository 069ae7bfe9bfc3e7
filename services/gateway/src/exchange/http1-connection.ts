import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { systemCodeOf } from '@orch/platform'

/** Limits of bytes read and dropped after the last answer. */
export interface ConnectionBounds {
  readonly lingerMs: number
  readonly lingerBytesMax: number
}

/**
 * The answers of one connection over HTTP/1.1, and its end. A socket closed with unread bytes resets the connection, and the client may lose the last
 * answer. So only this server's half is closed after it; later bytes are read and dropped until the client closes the other half, or a limit is reached.
 */
export class Http1Connection {
  readonly #socket: Socket
  readonly #bounds: ConnectionBounds
  /** Incomplete answers, in the order of their requests. */
  readonly #answers = new Set<ServerResponse>()
  #dropsInput = false
  /** Sent after the answers to all completely read requests. */
  #refusal: string | undefined

  constructor(socket: Socket, bounds: ConnectionBounds) {
    this.#socket = socket
    this.#bounds = bounds
    // Node calls this after an answer with `Connection: close`, to end the socket and to close it as soon as everything is written.
    socket.destroySoon = () => this.#end()
    socket.once('close', () => this.#closeWaiting())
  }

  /** True if another answer, or any, is incomplete. */
  hasAnswersBefore(response: ServerResponse | undefined): boolean {
    const [first] = this.#answers
    return first !== undefined && first !== response
  }

  addAnswer(response: ServerResponse): void {
    this.#answers.add(response)
    response.once('close', () => {
      this.#answers.delete(response)
      if (this.#refusal !== undefined) this.#refuseInTurn()
    })
  }

  /** Ends the connection after an error of Node's parser or of its timers, which the client receives as its last answer. */
  refuse(error: Error): void {
    const status = statusOf(error)
    if (status === undefined || !this.#socket.writable) {
      this.#socket.destroy(error)
      return
    }
    this.#refusal = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
    this.#dropInput()
    this.#refuseInTurn()
  }

  /** An answer that waits for an earlier one has no socket, and Node does not report that the client has left. */
  #closeWaiting(): void {
    for (const answer of this.#answers) if (answer.socket === null) answer.destroy().emit('close')
  }

  #refuseInTurn(): void {
    const [first] = this.#answers
    if (first?.req.complete === true || !this.#socket.writable) return
    // The failed body belongs to a request whose answer has begun: only a broken connection shows that it is incomplete.
    if (first?.headersSent === true) this.#socket.destroy()
    else this.#end(this.#refusal)
  }

  #end(last = ''): void {
    this.#dropInput()
    if (this.#socket.writable) this.#socket.end(last, 'latin1')
    const timer = setTimeout(() => this.#socket.destroy(), this.#bounds.lingerMs)
    this.#socket.once('close', () => clearTimeout(timer))
  }

  /** Nothing more is parsed. */
  #dropInput(): void {
    if (this.#dropsInput) return
    this.#dropsInput = true
    let bytes = 0
    const drop = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > this.#bounds.lingerBytesMax) this.#socket.destroy()
    }
    // Node's parser releases the socket at a second listener.
    this.#socket.removeAllListeners('data').on('data', drop).resume()
  }
}

/** Undefined if the connection has failed, so that no answer would arrive. */
function statusOf(error: Error): number | undefined {
  const code = systemCodeOf(error) ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code.startsWith('HPE_') ? 400 : undefined
}
