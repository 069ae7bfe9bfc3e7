import { type ChannelCredentials, Client, type ClientReadableStream, Metadata, type StatusObject } from '@grpc/grpc-js'
import type { Clock, Timer } from '../clock.ts'
import { codecOf } from '../codec.ts'
import type { Log } from '../log.ts'
import { retryDelayMs } from '../retry-delay.ts'
import type { Target } from './address.ts'
import { FrameCaller } from './frame-caller.ts'
import { callFrames, replyFrames } from './frames.ts'
import { callerOverGrpc } from './grpc-port.ts'
import { healthContract, servingStatus } from './health.ts'
import { announcedName } from './host-credentials.ts'
import { rpcLimits } from './limits.ts'
import { dialOptions, exchangeMethod, methodPath } from './path.ts'
import { afterPatience } from './patience.ts'
import { Probe } from './probe.ts'
import { RenewableChannel } from './renewable-channel.ts'

/** The dependencies of a replica, and callbacks for its state. */
export interface ReplicaOptions {
  readonly target: Target
  /** Credentials for a host with this name in its certificate. */
  readonly credentialsFor: (host: string) => ChannelCredentials
  /** The service whose health is asked for. */
  readonly service: string
  readonly clock: Clock
  readonly random: () => number
  readonly log: Log
  /** Called when the replica becomes ready or doubtful, or stops being so. */
  readonly onReadiness: (replica: Replica) => void
  /** True if another replica accepts calls and is not doubtful. */
  readonly hasOther: () => boolean
}

/** The start of an attempt and the time that the replica has for it; undefined for unlimited time. */
export interface AnswerTime {
  readonly begunMs: number
  readonly answerMs: number | undefined
}

const health = healthContract.methods.watch

/** gRPC reports the reason only in a text: the port refuses connections, or the name is unknown. */
const isNotThereYet = /ECONNREFUSED|Name resolution failed/

/**
 * A process that offers the service. A stream of the health service stays open while the process is reachable: its messages and
 * its end decide whether the replica receives calls. An ended stream is opened again, at first at once, then with growing pauses.
 *
 * Since a dead connection may look alive, the replica is also probed. A probe or a call without a timely answer makes the replica
 * doubtful: calls go to another one if possible. Further missing answers replace the connection.
 *
 *   ready ── no answer in time ──▶ doubtful ── again ──▶ away, new connection ── health: serving ──▶ ready
 *     ▲                               │
 *     └── later a probe is answered ──┘
 */
export class Replica {
  readonly address: string
  /** The numbers of unanswered calls and of open streams. */
  readonly inFlight = { call: 0, stream: 0 }
  readonly #options: ReplicaOptions
  readonly #channel: RenewableChannel
  /** The gRPC client for calls. */
  readonly client: Client
  readonly #probe: Probe
  #isReady = false
  /** True if the replica reports that its backend does not answer. */
  #isUseless = false
  /** True if an answer was late. */
  #isSlow = false
  #failures = 0
  /** The number of consecutive connections without any message. */
  #unmade = 0
  /** True after the replica has reported its health. */
  #isKnown = false
  #watching: ClientReadableStream<unknown> | undefined
  /** The health stream, once it has sent a message. */
  #heard: ClientReadableStream<unknown> | undefined
  #retry: Timer | undefined
  /** Pending until a new stream sends its first message. */
  #silence: Timer | undefined
  #exchange: FrameCaller | undefined
  /** The number of consecutive late calls, and the end of the last one. */
  #late = { count: 0, atMs: Number.NEGATIVE_INFINITY }
  /** Time of the last answer to a call. */
  #answeredMs = Number.NEGATIVE_INFINITY
  /** The time of the last answer that took at least half of its allowed time. */
  #slowAnswerMs = Number.NEGATIVE_INFINITY
  readonly #doubtListeners = new Set<() => void>()
  readonly #silenceListeners = new Set<() => void>()
  #closed = false

  constructor(options: ReplicaOptions) {
    const { target, credentialsFor, service, clock } = options
    this.#options = options
    this.address = target.address
    const credentials = credentialsFor(target.host)
    this.#channel = new RenewableChannel(target.address, credentials, {
      ...dialOptions,
      // The credentials check the name in the certificate.
      'grpc.ssl_target_name_override': announcedName(target.host),
      'grpc.default_authority': target.host,
    })
    this.client = new Client(target.address, credentials, { channelOverride: this.#channel })
    this.#probe = new Probe({
      client: this.client,
      service,
      clock,
      onAnswer: () => {
        if (clock.monotonic() - this.#late.atMs >= rpcLimits.doubtMs) this.#setSlow(false)
      },
      onMiss: (inARow, askedMs) => this.#onMiss(inARow, askedMs),
    })
    this.#watch()
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** True if the replica is reachable but calls should prefer others. */
  get isDoubtful(): boolean {
    return this.#isSlow || this.#isUseless
  }

  /** Reports a failed call: the replica receives no calls until it reports that it is serving. */
  suspect(): void {
    if (this.#closed || !this.#isReady) return
    const asked = this.#watching
    this.#become(false)
    this.#watch()
    asked?.cancel()
  }

  /** Reports that a call begun at this time was not answered in its time. */
  wasLate(begunMs: number): void {
    if (this.#closed || !this.#isReady) return
    // Late answers of parallel calls count once.
    if (begunMs >= this.#late.atMs) this.#late = { count: this.#late.count + 1, atMs: this.#options.clock.monotonic() }
    if (this.#late.count >= rpcLimits.lateCallsMax) this.#renew('calls have no answer')
    else this.#doubt()
  }

  /** Reports any answer to a call. */
  hasAnswered({ begunMs, answerMs }: AnswerTime): void {
    this.#late.count = 0
    const atMs = this.#options.clock.monotonic()
    this.#answeredMs = atMs
    if (answerMs !== undefined && atMs - begunMs >= answerMs / 2) this.#slowAnswerMs = atMs
  }

  /** Probes the replica for an unanswered call that began at this time, unless the replica has answered another call since. */
  isAwaited(begunMs: number): void {
    if (!this.#closed && this.#isReady && this.#answeredMs < begunMs) this.#probe.forCall()
  }

  /**
   * The additional wait for a call whose time is over. If many parallel calls are answered one after the other,
   * the last ones are late although the replica is healthy; late answers to other calls show this.
   */
  patienceFor({ begunMs, answerMs = 0 }: AnswerTime): number {
    const untilMs = Math.min(this.#slowAnswerMs + answerMs, begunMs + rpcLimits.slowAnswersMax * answerMs)
    return untilMs - this.#options.clock.monotonic()
  }

  /** Calls back when the replica becomes doubtful; the returned function ends that. */
  onDoubt(listener: () => void): () => void {
    this.#doubtListeners.add(listener)
    return () => void this.#doubtListeners.delete(listener)
  }

  /** Calls back when the replica is silent and another one is available; the returned function ends that. */
  onSilence(listener: () => void): () => void {
    this.#silenceListeners.add(listener)
    return () => void this.#silenceListeners.delete(listener)
  }

  /** The stream for batches of calls, opened at first use and reopened after it ends. */
  get exchange(): FrameCaller {
    this.#exchange ??= this.#openExchange()
    return this.#exchange
  }

  /** Closes the replica without cancelling calls in progress. */
  close(): void {
    this.#closed = true
    this.#retry?.cancel()
    this.#silence?.cancel()
    this.#watching?.cancel()
    this.#become(false)
    this.#exchange?.finish()
    this.client.close()
  }

  #openExchange(): FrameCaller {
    const { service, clock } = this.#options
    const path = methodPath(service, exchangeMethod)
    const call = this.client.makeBidiStreamRequest(path, callFrames.encode, (bytes) => replyFrames.decode(bytes), new Metadata())
    const exchange = new FrameCaller({
      port: callerOverGrpc(call),
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
    const call = this.client.makeServerStreamRequest(
      methodPath(healthContract.name, 'watch'),
      codecOf(health.request).encode,
      (bytes) => codecOf(health.response).decode(bytes),
      { service: this.#options.service },
      new Metadata(),
    )
    this.#watching = call
    this.#silence?.cancel()
    const patienceMs = Math.min(rpcLimits.connectMsMax * 2 ** this.#unmade, rpcLimits.slowConnectMsMax)
    // On a busy machine received data may not have been read yet.
    this.#silence = afterPatience(this.#options.clock, patienceMs, () => this.#onSilence(call))
    call.on('data', ({ status }: { status: number }) => {
      if (this.#watching !== call) return
      this.#silence?.cancel()
      this.#heard = call
      this.#failures = 0
      this.#unmade = 0
      this.#isKnown = true
      this.#setUseless(status === servingStatus.unknown)
      this.#become(status === servingStatus.serving || status === servingStatus.unknown)
    })
    // The end of a stream is handled by its status, which a dead connection has too.
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
    const isWarned = this.#failures === (isExpected ? rpcLimits.firstAttemptsMax : 1)
    log[isWarned ? 'warn' : 'debug']({ service, address: this.address, reason: details }, 'a replica cannot be reached')
    // gRPC would keep using a destroyed session.
    if (this.#heard !== ended && this.#channel.seemsConnected) this.#channel.renew()
    const delayMs = retryDelayMs({ attempt: this.#failures, maxMs: rpcLimits.reconnectDelayMsMax, random: random() })
    this.#retry = clock.after(delayMs, () => this.#watch())
  }

  /** Replaces a silent connection: gRPC has no connect timeout, and does not detect every dead connection. */
  #onSilence(call: ClientReadableStream<unknown>): void {
    if (this.#closed || this.#watching !== call || this.#heard === call) return
    this.#unmade += 1
    this.#renew('nothing is heard on a new one')
  }

  #onMiss(inARow: number, askedMs: number): void {
    if (inARow >= rpcLimits.probesMissedMax) this.#renew('probes have no answer')
    else {
      this.#doubt()
      if (this.#answeredMs < askedMs && this.#options.hasOther()) this.#leaveCalls()
    }
  }

  /** Fails all calls that wait for a silent replica; idempotent ones are repeated on another replica. */
  #leaveCalls(): void {
    this.#exchange?.abandon()
    for (const listener of [...this.#silenceListeners]) listener()
  }

  /** Marks the replica as doubtful until it answers a probe. */
  #doubt(): void {
    this.#setSlow(true)
    this.#probe.now()
  }

  /** Replaces the connection, which fails everything in progress on it. */
  #renew(reason: string): void {
    const { log, service } = this.#options
    log.warn({ service, address: this.address, reason }, 'a connection to a replica is given up, and another one is made')
    this.#late = { count: 0, atMs: Number.NEGATIVE_INFINITY }
    this.#become(false)
    this.#retry?.cancel()
    this.#watching = undefined
    this.#channel.renew()
    this.#watch()
  }

  #setSlow(isSlow: boolean): void {
    if (this.#isSlow === isSlow) return
    this.#isSlow = isSlow
    this.#reportDoubt(isSlow)
  }

  #setUseless(isUseless: boolean): void {
    if (this.#isUseless === isUseless) return
    this.#isUseless = isUseless
    this.#reportDoubt(isUseless)
  }

  #reportDoubt(isDoubt: boolean): void {
    const { log, service } = this.#options
    if (isDoubt) log.debug({ service, address: this.address }, 'a replica is doubtful')
    this.#options.onReadiness(this)
    if (isDoubt) for (const listener of [...this.#doubtListeners]) listener()
  }

  #become(isReady: boolean): void {
    if (this.#isReady === isReady) return
    this.#isReady = isReady
    if (isReady) this.#probe.begin()
    else this.#probe.end()
    if (isReady) this.#isSlow = false
    this.#options.onReadiness(this)
  }
}
