import type { Socket } from 'node:net'
import {
  Channel,
  ChannelCredentials,
  type ChannelInterface,
  type ChannelOptions,
  type Client,
  connectivityState,
  status,
} from '@grpc/grpc-js'

/** Limits after which a channel renews itself. */
export interface RenewalOptions {
  /** Number of consecutive calls that end without a message, by their deadline or although the connection seems usable. */
  readonly failuresMax: number
}

/** The statuses of calls on a destroyed session. */
const brokenStatuses: ReadonlySet<status> = new Set([status.INTERNAL, status.UNAVAILABLE, status.UNKNOWN])

type Call = ReturnType<ChannelInterface['createCall']>
type Connector = ReturnType<ChannelCredentials['_createSecureConnector']>
type ConnectorParameters = Parameters<ChannelCredentials['_createSecureConnector']>

/**
 * A channel whose connection can be replaced.
 *
 * gRPC keeps a connection until its HTTP/2 session has closed. A session that was destroyed because of a damaged TLS record does not
 * report that while the other side keeps the socket open: gRPC considers the channel ready, sends no pings, and never reconnects.
 * So a caller that notices missing answers calls `renew`.
 */
export class RenewableChannel implements ChannelInterface {
  readonly #open: () => ChannelInterface
  readonly #sockets = new Set<Socket>()
  readonly #calls = new Set<Call>()
  readonly #failuresMax: number
  #channel: ChannelInterface
  #failures = 0
  #isClosed = false

  constructor(
    target: string,
    credentials: ChannelCredentials,
    options: ChannelOptions,
    { failuresMax }: RenewalOptions = { failuresMax: Number.POSITIVE_INFINITY },
  ) {
    this.#failuresMax = failuresMax
    const noticing = new NoticingCredentials(credentials, this.#sockets)
    this.#open = () => new Channel(target, noticing, options)
    this.#channel = this.#open()
  }

  /** Fails all calls as for a lost connection, destroys the sockets, and reconnects. */
  renew(): void {
    if (this.#isClosed) return
    this.#failures = 0
    const stale = this.#channel
    this.#channel = this.#open()
    this.#abandon(stale)
  }

  /** True if gRPC considers the connection usable. */
  get seemsConnected(): boolean {
    return this.#channel.getConnectivityState(false) === connectivityState.READY
  }

  close(): void {
    this.#isClosed = true
    this.#channel.close()
  }

  getTarget(): string {
    return this.#channel.getTarget()
  }

  getConnectivityState(tryToConnect: boolean): ReturnType<ChannelInterface['getConnectivityState']> {
    return this.#channel.getConnectivityState(tryToConnect)
  }

  watchConnectivityState(...parameters: Parameters<ChannelInterface['watchConnectivityState']>): void {
    this.#channel.watchConnectivityState(...parameters)
  }

  getChannelzRef(): ReturnType<ChannelInterface['getChannelzRef']> {
    return this.#channel.getChannelzRef()
  }

  createCall(...parameters: Parameters<ChannelInterface['createCall']>): Call {
    const call = this.#channel.createCall(...parameters)
    const start = call.start.bind(call)
    call.start = (metadata, listener) => {
      this.#calls.add(call)
      start(metadata, {
        onReceiveMetadata: (received) => listener.onReceiveMetadata(received),
        onReceiveMessage: (message) => {
          this.#failures = 0
          listener.onReceiveMessage(message)
        },
        onReceiveStatus: (ended) => {
          this.#calls.delete(call)
          listener.onReceiveStatus(ended)
          this.#onEnd(ended.code)
        },
      })
    }
    return call
  }

  #onEnd(code: status): void {
    const isBroken = code === status.DEADLINE_EXCEEDED || (brokenStatuses.has(code) && this.seemsConnected)
    if (!isBroken) return
    this.#failures += 1
    if (this.#failures >= this.#failuresMax) this.renew()
  }

  #abandon(channel: ChannelInterface): void {
    const [calls, sockets] = [[...this.#calls], [...this.#sockets]]
    this.#calls.clear()
    this.#sockets.clear()
    channel.close()
    for (const call of calls) call.cancelWithStatus(status.UNAVAILABLE, 'the connection was given up')
    for (const socket of sockets) socket.destroy()
  }
}

/** The options of a gRPC client whose channels are renewable. `own` replaces the credentials of the client. */
export function renewableChannels(renewal: RenewalOptions, own?: ChannelCredentials): NonNullable<ConstructorParameters<typeof Client>[2]> {
  return { channelFactoryOverride: (target, given, options) => new RenewableChannel(target, own ?? given, options, renewal) }
}

/** Credentials that record the sockets that use them. */
class NoticingCredentials extends ChannelCredentials {
  readonly #credentials: ChannelCredentials
  readonly #sockets: Set<Socket>

  constructor(credentials: ChannelCredentials, sockets: Set<Socket>) {
    super()
    this.#credentials = credentials
    this.#sockets = sockets
  }

  override _isSecure(): boolean {
    return this.#credentials._isSecure()
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other
  }

  override _createSecureConnector(...parameters: ConnectorParameters): Connector {
    const connector = this.#credentials._createSecureConnector(...parameters)
    return {
      connect: (socket) => {
        this.#sockets.add(socket)
        socket.once('close', () => this.#sockets.delete(socket))
        return connector.connect(socket)
      },
      waitForReady: () => connector.waitForReady(),
      getCallCredentials: () => connector.getCallCredentials(),
      destroy: () => connector.destroy(),
    }
  }
}
