import { domainGroup, type Names } from '@orch/core/names'
import type { Clock, Timer } from '@orch/platform'
import { limits } from '../limits.ts'
import type { ByteChannel } from './byte-channel.ts'
import type { ChannelForm, ChannelSocket } from './channels.ts'
import type { SpdyStream } from './spdy.ts'

/** A connection of a client to a port: bytes in both directions, and an error text. */
export interface PortConnection {
  readonly port: number
  readonly data: ByteChannel
  readonly error: Pick<ByteChannel, 'write' | 'end'>
}

/** The protocol over SPDY. */
export function portProtocol(names: Names): string {
  return domainGroup(names, 'portforward')
}

/** The subprotocol of a WebSocket that carries the port protocol in binary messages. */
export function tunnelSubprotocol(names: Names): string {
  return `SPDY/3.1+${portProtocol(names)}`
}

/** Forms of the older protocol, over channels of a WebSocket, by their subprotocols. */
export function channelPortForms(names: Names): ReadonlyMap<string, ChannelForm> {
  const channel = domainGroup(names, 'channel')
  return new Map([
    [`v4.${channel}`, { isBase64: false, hasEnds: false }],
    [`v4.base64.${channel}`, { isBase64: true, hasEnds: false }],
    ['', { isBase64: false, hasEnds: false }],
  ])
}

interface Pair {
  data?: SpdyStream
  error?: SpdyStream
  timer: Timer
}

/** Pairs the streams that a client opens, by their request. */
export class SpdyPortStreams {
  readonly #pairs = new Map<string, Pair>()
  readonly #clock: Pick<Clock, 'after'>
  readonly #onConnection: (connection: PortConnection) => void

  constructor(clock: Pick<Clock, 'after'>, onConnection: (connection: PortConnection) => void) {
    this.#clock = clock
    this.#onConnection = onConnection
  }

  /** False if the stream has an unknown or repeated type, or would begin a pair whose other stream might be one too many for the tunnel. */
  add(stream: SpdyStream, openCount: number): boolean {
    const type = stream.headers.get('streamtype') ?? ''
    const port = portOf(stream.headers.get('port') ?? '')
    if ((type !== 'data' && type !== 'error') || port === undefined) return false
    const id = requestOf(stream, type)
    const pair = this.#pairs.get(id) ?? this.#begin(id, openCount)
    if (pair === undefined || pair[type] !== undefined) return false
    pair[type] = stream
    const { data, error } = pair
    if (data === undefined || error === undefined) return true
    this.#forget(id, pair)
    this.#onConnection({ port: portOf(data.headers.get('port') ?? '') ?? port, data, error })
    return true
  }

  close(): void {
    for (const [id, pair] of this.#pairs) this.#forget(id, pair)
  }

  #begin(id: string, openCount: number): Pair | undefined {
    // Each incomplete pair needs another stream.
    if (openCount + this.#pairs.size >= limits.spdyStreamsMax) return undefined
    const timer = this.#clock.after(limits.streamOpeningMs, () => this.#giveUp(id), { background: true })
    const pair: Pair = { timer }
    this.#pairs.set(id, pair)
    return pair
  }

  #giveUp(id: string): void {
    const pair = this.#pairs.get(id)
    if (pair === undefined) return
    this.#forget(id, pair)
    pair.data?.reset()
    void pair.error?.write(Buffer.from(`(request=${id}) timed out waiting for streams`)).then(() => pair.error?.reset())
  }

  #forget(id: string, { timer }: Pair): void {
    timer.cancel()
    this.#pairs.delete(id)
  }
}

/** Clients without a request id open the error stream, and then the data stream. */
function requestOf({ headers, id }: SpdyStream, type: 'data' | 'error'): string {
  return headers.get('requestid') ?? String(type === 'error' ? id : id - 2)
}

/** Undefined for an invalid port. */
export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

/** The channels of ports over WebSocket: data and error for each, whose first message is the port, little endian. */
export function portChannels(ports: readonly number[]): { readonly count: number; readonly readable: readonly number[] } {
  return { count: ports.length * 2, readable: ports.map((_port, index) => index * 2) }
}

/** The connections to the requested ports. */
export async function channelConnections(socket: ChannelSocket, ports: readonly number[]): Promise<PortConnection[]> {
  const connections: PortConnection[] = []
  for (const [index, port] of ports.entries()) {
    const data = index * 2
    const error = data + 1
    const number = Buffer.from([port & 0xff, port >>> 8])
    await socket.write(data, number)
    await socket.write(error, number)
    // Channels of this protocol cannot end separately.
    const end = () => {}
    connections.push({
      port,
      data: { input: socket.input(data), closed: socket.closed, write: (bytes) => socket.write(data, bytes), end },
      error: { write: (bytes) => socket.write(error, bytes), end },
    })
  }
  return connections
}
