import type { WebSocket } from 'ws'
import { limits } from '../limits.ts'
import { ByteQueue } from './byte-queue.ts'

/** The form of messages: the first byte is the channel, or its digit before text in base64. */
export interface ChannelForm {
  readonly isBase64: boolean
  /** True if the client may end one channel with byte 255 and its number (v5). */
  readonly hasEnds: boolean
}

const endSignal = 255
const digitZero = 0x30
/** Maximum bytes of one message, as several channels share a connection. */
const messageBytesMax = 32 * 1024
/** Status of a WebSocket close (RFC 6455, section 7.4.1). */
const closeCodes = { normal: 1000, protocolError: 1002 } as const

/** Numbered channels over the messages of one WebSocket. */
export class ChannelSocket {
  /** Resolves when no more messages are received. */
  readonly closed: Promise<void>
  readonly #webSocket: WebSocket
  readonly #form: ChannelForm
  readonly #inputs: ReadonlyMap<number, ByteQueue>
  #unread = 0

  /** `count` channels; the client may write to `readable` ones. */
  constructor(
    webSocket: WebSocket,
    form: ChannelForm,
    { count, readable }: { readonly count: number; readonly readable: readonly number[] },
  ) {
    this.#webSocket = webSocket
    this.#form = form
    this.#inputs = new Map(readable.map((channel) => [channel, new ByteQueue((bytes) => this.#take(bytes))]))
    webSocket.on('message', (data: Buffer) => this.#receive(data, count))
    this.closed = new Promise((resolve) => {
      webSocket.once('close', () => {
        for (const input of this.#inputs.values()) input.end()
        resolve()
      })
    })
  }

  /** The bytes of a client on a channel that it may write to. */
  input(channel: number): ByteQueue {
    const input = this.#inputs.get(channel)
    if (input === undefined) throw new Error(`clients do not write to channel ${channel}`)
    return input
  }

  /** Resolves when more may be written. An empty text is a message too. After the end the bytes are dropped. */
  async write(channel: number, bytes: Uint8Array): Promise<void> {
    let at = 0
    do {
      const piece = bytes.subarray(at, at + messageBytesMax)
      await new Promise<void>((resolve) =>
        this.#webSocket.send(this.#print(channel, piece), { binary: !this.#form.isBase64 }, () => resolve()),
      )
      at += piece.length
    } while (at < bytes.length && this.#webSocket.readyState === this.#webSocket.OPEN)
  }

  close(code: keyof typeof closeCodes = 'normal'): void {
    this.#webSocket.close(closeCodes[code])
  }

  #receive(message: Buffer, count: number): void {
    const [first, second] = message
    if (first === undefined) return
    if (this.#form.hasEnds && first === endSignal) {
      if (message.length !== 2 || second === undefined || second >= count) this.close('protocolError')
      else this.#inputs.get(second)?.end()
      return
    }
    const channel = this.#form.isBase64 ? first - digitZero : first
    const bytes = this.#form.isBase64 ? fromBase64(message) : message.subarray(1)
    // Messages for unknown channels, and invalid ones, are dropped.
    if (bytes === undefined || this.#inputs.get(channel)?.push(bytes) !== true) return
    this.#unread += bytes.length
    if (this.#unread > limits.streamUnreadBytesMax) this.#webSocket.pause()
  }

  #take(bytes: number): void {
    this.#unread -= bytes
    if (this.#webSocket.isPaused && this.#unread <= limits.streamUnreadBytesMax) this.#webSocket.resume()
  }

  #print(channel: number, bytes: Uint8Array): Buffer | string {
    if (this.#form.isBase64) return `${channel}${Buffer.from(bytes).toString('base64')}`
    const message = Buffer.allocUnsafe(bytes.length + 1)
    message[0] = channel
    message.set(bytes, 1)
    return message
  }
}

function fromBase64(message: Buffer): Buffer | undefined {
  const text = message.toString('latin1', 1)
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}
