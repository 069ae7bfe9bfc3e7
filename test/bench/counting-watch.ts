import type { Connection } from './http1-load.ts'

const eventFront = Buffer.from('{"type":"')

/** A watch that counts its events and does not parse them. */
export class CountingWatch {
  events = 0
  readonly #connection: Connection
  #tail: Buffer<ArrayBufferLike> = Buffer.alloc(0)

  constructor(connection: Connection, request: Buffer) {
    this.#connection = connection
    connection.socket.removeAllListeners('data')
    connection.socket.on('data', (chunk: Buffer) => this.#take(chunk))
    connection.socket.write(request)
  }

  close(): void {
    this.#connection.close()
  }

  #take(chunk: Buffer): void {
    const text = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    let from = 0
    for (let at = text.indexOf(eventFront); at >= 0; at = text.indexOf(eventFront, from)) {
      this.events += 1
      from = at + eventFront.length
    }
    this.#tail = Buffer.from(text.subarray(Math.max(from, text.length - eventFront.length + 1)))
  }
}
