import { domainGroup, type Names } from '@orch/core/names'
import type { Clock } from '@orch/platform'
import { limits } from '../limits.ts'
import type { ByteChannel } from './byte-channel.ts'
import type { ChannelForm, ChannelSocket } from './channels.ts'
import type { SpdyConnection, SpdyStream } from './spdy.ts'

/** The requested streams. */
export interface CommandStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** The end of a command: a Status without its kind. */
export interface CommandResult {
  readonly metadata: Record<string, never>
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: { readonly causes: readonly { readonly reason?: string; readonly message: string }[] }
  readonly code?: number
}

/** A client's connection to a command in a container. */
export interface CommandTunnel {
  /** Ends when the client ends its input, or the connection. */
  readonly stdin: AsyncIterableIterator<Uint8Array, undefined> | undefined
  /** JSON objects with the sizes of the client's terminal. */
  readonly resizes: AsyncIterableIterator<Uint8Array, undefined> | undefined
  /** Resolves when more may be written. */
  write(to: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void>
  /** Reports the result after all output, and closes. Bytes are a Status from a kubelet. */
  finish(result: CommandResult | Uint8Array): Promise<void>
  close(): void
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>
}

/** Versions of the protocol over SPDY by name, newest first. The last is the default. */
export function spdyCommandVersions(names: Names): ReadonlyMap<string, number> {
  const channel = domainGroup(names, 'channel')
  return new Map([4, 3, 2, 1].map((version) => [version === 1 ? channel : `v${version}.${channel}`, version]))
}

/** A form of the protocol over WebSocket. */
export interface CommandForm extends ChannelForm {
  readonly tellsStatus: boolean
}

/** Forms of the protocol over WebSocket by subprotocol; '' is the default. */
export function channelCommandForms(names: Names): ReadonlyMap<string, CommandForm> {
  const channel = domainGroup(names, 'channel')
  return new Map([
    [`v5.${channel}`, { isBase64: false, hasEnds: true, tellsStatus: true }],
    [`v4.${channel}`, { isBase64: false, hasEnds: false, tellsStatus: true }],
    [`v4.base64.${channel}`, { isBase64: true, hasEnds: false, tellsStatus: true }],
    [channel, { isBase64: false, hasEnds: false, tellsStatus: false }],
    [`base64.${channel}`, { isBase64: true, hasEnds: false, tellsStatus: false }],
    ['', { isBase64: false, hasEnds: false, tellsStatus: false }],
  ])
}

/** The result of a command that could not be started. */
export function failedResult(text: string): CommandResult {
  const details = { causes: [{ message: text }] }
  return { metadata: {}, status: 'Failure', message: `Internal error occurred: ${text}`, reason: 'InternalError', details, code: 500 }
}

/** Before version 4 the result is text, empty for success. */
function resultText(result: CommandResult | Uint8Array, tellsStatus: boolean): Uint8Array {
  if (result instanceof Uint8Array) return result
  if (tellsStatus) return Buffer.from(JSON.stringify(result))
  return Buffer.from(result.status === 'Success' ? '' : (result.message ?? ''))
}

type StreamType = keyof Omit<CommandStreams, 'tty'> | 'error' | 'resize'

const streamTypes: ReadonlySet<string> = new Set<StreamType>(['stdin', 'stdout', 'stderr', 'error', 'resize'])

/** Collects the streams of a command while a client opens them. */
export class SpdyCommandStreams {
  readonly #wanted: ReadonlySet<string>
  readonly #streams = new Map<string, SpdyStream>()
  readonly #version: number
  #onComplete: () => void = () => {}

  constructor(version: number, { stdin, stdout, stderr, tty }: CommandStreams) {
    this.#version = version
    const hasResizes = tty && version >= 3
    const asked: Record<string, boolean> = { stdin, stdout, stderr, error: true, resize: hasResizes }
    this.#wanted = new Set(Object.keys(asked).filter((name) => asked[name]))
  }

  /** False if the stream has an unknown or repeated type. */
  add(stream: SpdyStream): boolean {
    const type = stream.headers.get('streamtype') ?? ''
    if (!streamTypes.has(type) || this.#streams.has(type)) return false
    this.#streams.set(type, stream)
    if (this.#isComplete) this.#onComplete()
    return true
  }

  get #isComplete(): boolean {
    return [...this.#wanted].every((type) => this.#streams.has(type))
  }

  /** Undefined if the client did not open them in time, or has disconnected. */
  async tunnel(connection: SpdyConnection, clock: Pick<Clock, 'after'>): Promise<CommandTunnel | undefined> {
    if (!this.#isComplete) {
      await new Promise<void>((resolve) => {
        const timer = clock.after(limits.streamOpeningMs, resolve, { background: true })
        const done = () => {
          timer.cancel()
          resolve()
        }
        this.#onComplete = done
        void connection.closed.then(done)
      })
    }
    if (!this.#isComplete) {
      connection.close()
      return undefined
    }
    return this.#tunnelOf(connection)
  }

  #tunnelOf(connection: SpdyConnection): CommandTunnel {
    const streamOf = (type: StreamType): ByteChannel | undefined => this.#streams.get(type)
    const tellsStatus = this.#version >= 4
    return {
      stdin: streamOf('stdin')?.input,
      resizes: streamOf('resize')?.input,
      write: async (to, bytes) => streamOf(to)?.write(bytes),
      async finish(result) {
        streamOf('stdout')?.end()
        streamOf('stderr')?.end()
        await streamOf('error')?.write(resultText(result, tellsStatus))
        streamOf('error')?.end()
        connection.close()
      },
      close: () => connection.close(),
      closed: connection.closed,
    }
  }
}

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
/** The number of channels, and the ones that the client writes. */
export const commandChannels = { count: 5, readable: [channels.stdin, channels.resize] } as const

/** The tunnel of a command over WebSocket. An empty message tells the client that it is ready. */
export async function channelTunnel(
  socket: ChannelSocket,
  { tellsStatus }: { readonly tellsStatus: boolean },
  streams: CommandStreams,
): Promise<CommandTunnel> {
  const first = streams.stdout ? 'stdout' : streams.stderr ? 'stderr' : 'error'
  await socket.write(channels[first], new Uint8Array())
  return {
    stdin: streams.stdin ? socket.input(channels.stdin) : undefined,
    resizes: socket.input(channels.resize),
    write: async (to, bytes) => (streams[to] ? socket.write(channels[to], bytes) : undefined),
    async finish(result) {
      const text = resultText(result, tellsStatus)
      if (text.length > 0) await socket.write(channels.error, text)
      socket.close()
    },
    close: () => socket.close(),
    closed: socket.closed,
  }
}
