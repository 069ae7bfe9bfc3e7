import { isIP } from 'node:net'
import { type ChannelCredentials, Client, type ClientReadableStream, connectivityState, Metadata, type StatusObject } from '@grpc/grpc-js'
import type { Clock, Timer } from '../clock.ts'
import { retryDelayMs } from '../follow/retry-delay.ts'
import type { Log } from '../log.ts'
import type { Target } from './address.ts'
import { codecOf } from './codec.ts'
import { ExchangeCaller } from './exchange-caller.ts'
import { callFrames, type ReplyFrame, replyFrames } from './frames.ts'
import { healthContract, servingStatus } from './health.ts'
import { rpcLimits } from './limits.ts'
import { dialOptions, exchangeMethod, methodPath } from './path.ts'

/** What a replica needs, and whom it tells. */
export interface ReplicaOptions {
  readonly target: Target
  /** Credentials for a host whose certificate carries this name. */
  readonly credentialsFor: (host: string) => ChannelCredentials
  /** Name of the service whose health is asked for. */
  readonly service: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Called when it has become ready, or is no longer. */
  readonly onReadiness: (replica: Replica) => void
}

const health = healthContract.methods.watch

/** gRPC tells in words alone why there is no connection: here nobody listens, or the name is not known. */
const isNotThereYet = /ECONNREFUSED|Name resolution failed/

/**
 * One process that offers the service. A stream of the health service stays open as long as it can be reached: what it says, and
 * its end, tell whether calls may go there. When it ends it is opened again, at first at once, then with longer and longer pauses.
 */
export class Replica {
  readonly address: string
  /** What is under way: calls without an answer, and streams that are open. */
  readonly inFlight = { call: 0, stream: 0 }
  readonly #options: ReplicaOptions
  #client: Client
  #isReady = false
  #failures = 0
  /** Connections in a row that were begun and not made. */
  #unmade = 0
  /** Whether it has ever said how it is. */
  #isKnown = false
  #watching: ClientReadableStream<unknown> | undefined
  #retry: Timer | undefined
  /** Runs while a stream has said nothing yet. */
  #silence: Timer | undefined
  #exchange: ExchangeCaller | undefined
  #closed = false

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.address = options.target.address
    this.#client = connect(options)
    this.#watch()
  }

  /** What calls are made with. */
  get client(): Client {
    return this.#client
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** A call has failed there: it gets no more until it says again that it is well. */
  suspect(): void {
    if (this.#closed || !this.#isReady) return
    const asked = this.#watching
    this.#become(false)
    this.#watch()
    asked?.cancel()
  }

  /** The stream that carries calls in batches, opened at first use and again when it is gone. */
  get exchange(): ExchangeCaller {
    this.#exchange ??= this.#openExchange()
    return this.#exchange
  }

  /** What is under way may still end well. */
  close(): void {
    this.#closed = true
    this.#retry?.cancel()
    this.#silence?.cancel()
    this.#watching?.cancel()
    this.#become(false)
    this.#exchange?.finish()
    this.#client.close()
  }

  #openExchange(): ExchangeCaller {
    const { service, clock } = this.#options
    const path = methodPath(service, exchangeMethod)
    const call = this.#client.makeBidiStreamRequest(
      path,
      callFrames.encode,
      (bytes) => replyFrames.decode(bytes) as ReplyFrame,
      new Metadata(),
    )
    const exchange = new ExchangeCaller({
      call,
      clock,
      onGone: () => {
        if (this.#exchange !== exchange) return
        this.#exchange = undefined
        this.suspect()
      },
    })
    return exchange
  }

  #watch(): void {
    const call = this.#client.makeServerStreamRequest(
      methodPath(healthContract.name, 'watch'),
      codecOf(health.request).encode,
      (bytes) => codecOf(health.response).decode(bytes),
      { service: this.#options.service },
      new Metadata(),
    )
    this.#watching = call
    this.#silence?.cancel()
    const patienceMs = Math.min(rpcLimits.connectMsMax * 2 ** this.#unmade, rpcLimits.slowConnectMsMax)
    this.#silence = this.#options.clock.after(patienceMs, () => this.#onSilence(call))
    call.on('data', ({ status }: { status: number }) => {
      this.#silence?.cancel()
      this.#failures = 0
      this.#unmade = 0
      this.#isKnown = true
      this.#become(status === servingStatus.serving)
    })
    // Every end comes with a status, also that of a connection that died.
    call.on('error', () => {})
    call.on('status', (status: StatusObject) => this.#watchAgain(call, status))
  }

  #watchAgain(ended: ClientReadableStream<unknown>, { details }: StatusObject): void {
    if (this.#closed || this.#watching !== ended) return
    this.#silence?.cancel()
    this.#become(false)
    const { clock, random, log, service } = this.#options
    this.#failures += 1
    const isExpected = !this.#isKnown && isNotThereYet.test(details)
    const isToldOf = this.#failures === (isExpected ? rpcLimits.firstAttemptsMax : 1)
    log[isToldOf ? 'warn' : 'debug']({ service, address: this.address, reason: details }, 'a replica cannot be reached')
    const delayMs = retryDelayMs({ attempt: this.#failures, maxMs: rpcLimits.reconnectDelayMsMax, random: random() })
    this.#retry = clock.after(delayMs, () => this.#watch())
  }

  /**
   * gRPC sets no bound to the making of a connection: one that is broken between its first bytes and its last greeting would be
   * waited for as long as the system takes it for alive, or for ever. It is left for a new one. A connection that stands is kept
   * alive, or ended, by its own questions.
   */
  #onSilence(call: ClientReadableStream<unknown>): void {
    if (this.#closed || this.#watching !== call) return
    if (this.#client.getChannel().getConnectivityState(false) === connectivityState.READY) return
    const { log, service } = this.#options
    log.warn({ service, address: this.address }, 'a connection was begun and not made; another one is tried')
    this.#unmade += 1
    const stuck = this.#client
    this.#exchange?.finish()
    this.#exchange = undefined
    this.#client = connect(this.#options)
    this.#watch()
    call.cancel()
    stuck.close()
  }

  #become(isReady: boolean): void {
    if (this.#isReady === isReady) return
    this.#isReady = isReady
    this.#options.onReadiness(this)
  }
}

function connect({ target: { address, host }, credentialsFor }: ReplicaOptions): Client {
  return new Client(address, credentialsFor(host), {
    ...dialOptions,
    // The name that TLS announces must not be an address. What the certificate has to carry is checked by the credentials.
    'grpc.ssl_target_name_override': isIP(host) === 0 ? host : 'localhost',
    'grpc.default_authority': host,
  })
}
