import type { Duplex } from 'node:stream'
import { printHeaders, type SpdyHeaders } from '../../services/gateway/src/streams/spdy-headers.ts'

/** A frame for a client. Control frames have a type, data frames an id. */
export interface SeenFrame {
  readonly type: number | 'data'
  readonly id: number
  readonly flags: number
  readonly payload: Buffer
}

/** Bytes of a control frame of any type. */
export function controlFrame(type: number, flags: number, payload: Uint8Array, version = 3): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt8(flags, 4)
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

export function dataFrame(id: number, text: string | Uint8Array, isLast = false): Buffer {
  const bytes = Buffer.from(text)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(id)
  head.writeUInt8(isLast ? 1 : 0, 4)
  head.writeUIntBE(bytes.length, 5, 3)
  return Buffer.concat([head, bytes])
}

export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

/** The client's side of a connection over SPDY, for tests. */
export class SpdyClient {
  readonly seen: SeenFrame[] = []
  readonly #socket: Duplex
  #pending: Buffer = Buffer.alloc(0)
  #nextId = 1
  #isFirst = true
  #hasEnded = false
  #wake: (() => void)[] = []

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    const end = () => {
      this.#hasEnded = true
      for (const wake of this.#wake.splice(0)) wake()
    }
    socket.on('end', end).on('close', end).on('error', end)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  send(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** Opens a stream and returns its number. */
  open(headers: Readonly<Record<string, string>>, isLast = false): number {
    const id = this.#nextId
    this.#nextId += 2
    this.send(this.synStream(id, new Map(Object.entries(headers)), isLast))
    return id
  }

  synStream(id: number, headers: SpdyHeaders, isLast = false): Buffer {
    const block = printHeaders(headers, this.#isFirst)
    this.#isFirst = false
    return controlFrame(1, isLast ? 1 : 0, Buffer.concat([words(id, 0), Buffer.from([0, 0]), block]))
  }

  write(id: number, text: string | Uint8Array, isLast = false): void {
    this.send(dataFrame(id, text, isLast))
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** The text of a stream so far. */
  textOf(id: number): string {
    return Buffer.concat(this.seen.filter((frame) => frame.type === 'data' && frame.id === id).map(({ payload }) => payload)).toString()
  }

  hasEndOf(id: number): boolean {
    return this.seen.some((frame) => frame.id === id && frame.flags === 1)
  }

  /** Resolves when the condition holds, or at the end of the connection. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#hasEnded) await new Promise<void>((resolve) => void this.#wake.push(resolve))
  }

  #receive(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk])
    for (;;) {
      if (this.#pending.length < 8) break
      const length = this.#pending.readUIntBE(5, 3)
      if (this.#pending.length < 8 + length) break
      const word = this.#pending.readUInt32BE(0)
      const payload = this.#pending.subarray(8, 8 + length)
      const flags = this.#pending.readUInt8(4)
      const isControl = word >>> 31 === 1
      const id = isControl ? payload.readUInt32BE(0) : word
      this.seen.push({ type: isControl ? word & 0xffff : 'data', id, flags, payload })
      this.#pending = this.#pending.subarray(8 + length)
    }
    for (const wake of this.#wake.splice(0)) wake()
  }
}
