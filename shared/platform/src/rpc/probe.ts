import { type Client, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import type { Clock, Timer } from '../clock.ts'
import { codecOf } from './codec.ts'
import { healthContract } from './health.ts'
import { rpcLimits } from './limits.ts'
import { methodPath } from './path.ts'
import { afterPatience } from './patience.ts'

/** A probe's question, and the receiver of its result. */
export interface ProbeOptions {
  readonly client: Client
  /** Name of the service whose health is asked for. */
  readonly service: string
  readonly clock: Clock
  /** There was an answer, of any kind. */
  readonly onAnswer: () => void
  /** There was none in time since `askedMs`, for the so-manieth time in a row; a probe for a call does not count as one of them. */
  readonly onMiss: (inARow: number, askedMs: number) => void
}

const { check } = healthContract.methods
const path = methodPath(healthContract.name, 'check')

/** Asks a server for its health at intervals, to know whether answers still come. */
export class Probe {
  readonly #options: ProbeOptions
  #timer: Timer | undefined
  #cancel: (() => void) | undefined
  #missed = 0

  constructor(options: ProbeOptions) {
    this.#options = options
  }

  /** Begins to ask. */
  begin(): void {
    this.end()
    this.#later()
  }

  /** Asks at once, unless an answer is being waited for. */
  now(): void {
    this.#askEarly(false)
  }

  /** The same where a call waits: the answer may take less time, and its absence is not one of those in a row. */
  forCall(): void {
    this.#askEarly(true)
  }

  #askEarly(isForCall: boolean): void {
    if (this.#timer === undefined || this.#cancel !== undefined) return
    this.#timer.cancel()
    this.#ask(isForCall)
  }

  /** Asks no more. */
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
      // The end of a connection is noticed by the health stream.
      if (isLost(error)) return
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

function isLost(error: ServiceError | null): boolean {
  return error?.code === status.UNAVAILABLE || error?.code === status.CANCELLED
}
