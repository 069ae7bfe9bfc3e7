import { type Client, Metadata, status } from '@grpc/grpc-js'
import type { Clock, Timer } from '../clock.ts'
import { codecOf } from '../codec.ts'
import { healthContract } from './health.ts'
import { rpcLimits } from './limits.ts'
import { methodPath } from './path.ts'
import { afterPatience } from './patience.ts'

/** The request of a probe, and the callbacks for its result. */
export interface ProbeOptions {
  readonly client: Client
  /** The service whose health is asked for. */
  readonly service: string
  readonly clock: Clock
  /** Called for any answer. */
  readonly onAnswer: () => void
  /** Called if no answer came in time since `askedMs`, with the number of consecutive misses; a probe for a call does not count among them. */
  readonly onMiss: (inARow: number, askedMs: number) => void
}

const { check } = healthContract.methods
const path = methodPath(healthContract.name, 'check')

/** Asks a server for its health at intervals, to check that it still answers. */
export class Probe {
  readonly #options: ProbeOptions
  #timer: Timer | undefined
  #cancel: (() => void) | undefined
  #missed = 0

  constructor(options: ProbeOptions) {
    this.#options = options
  }

  /** Starts the interval. */
  begin(): void {
    this.end()
    this.#later()
  }

  /** Probes at once, unless a probe is pending. */
  now(): void {
    this.#askEarly(false)
  }

  /** Probes for a waiting call. The time limit may be shorter, and a missing answer does not count as one of the consecutive misses. */
  forCall(): void {
    this.#askEarly(true)
  }

  #askEarly(isForCall: boolean): void {
    if (this.#timer === undefined || this.#cancel !== undefined) return
    this.#timer.cancel()
    this.#ask(isForCall)
  }

  /** Stops probing. */
  end(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#cancel?.()
    this.#cancel = undefined
    this.#missed = 0
  }

  #later(): void {
    this.#timer = this.#options.clock.after(rpcLimits.probeMs, () => this.#ask())
  }

  #ask(isForCall = false): void {
    const { client, service, clock, onAnswer, onMiss } = this.#options
    const askedMs = clock.monotonic()
    let isOpen = true
    const close = () => {
      isOpen = false
      this.#cancel = undefined
      this.#timer?.cancel()
    }
    const decode = (bytes: Buffer) => codecOf(check.response).decode(bytes)
    const call = client.makeUnaryRequest(path, codecOf(check.request).encode, decode, { service }, new Metadata(), (error) => {
      if (!isOpen) return
      close()
      this.#later()
      // The health stream reports the end of a connection.
      if (error?.code === status.UNAVAILABLE || error?.code === status.CANCELLED) return
      this.#missed = 0
      onAnswer()
    })
    this.#cancel = () => {
      isOpen = false
      call.cancel()
    }
    this.#timer = afterPatience(clock, isForCall ? rpcLimits.silentAnswerMs : rpcLimits.probeAnswerMs, () => {
      if (!isOpen) return
      close()
      call.cancel()
      if (!isForCall) this.#missed += 1
      this.#later()
      onMiss(this.#missed, askedMs)
    })
  }
}
