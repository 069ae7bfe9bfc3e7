import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import type { Clock, Timer } from '../clock.ts'

/** JetStream's answer to a message. */
export interface Acknowledgement {
  /** The sequence of the message in the stream. */
  readonly sequence: number
  /** True if the stream had already received a message with this id. */
  readonly isDuplicate: boolean
}

/** A message for JetStream. */
export interface PublishedMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: MsgHdrs
}

/** The dependencies of publishing. */
export interface AcknowledgedPublisherOptions {
  readonly connection: Pick<NatsConnection, 'subscribe' | 'publish' | 'closed'>
  readonly clock: Clock
  /** Maximum wait for an answer. */
  readonly timeoutMs: number
}

interface Pending {
  readonly giveUpMs: number
  resolve(acknowledgement: Acknowledgement): void
  reject(error: Error): void
}

/**
 * Publishes to JetStream and waits for acknowledgements on one shared subscription. The library's own method creates
 * two errors, a timer and a race per message.
 */
export class AcknowledgedPublisher {
  readonly #options: AcknowledgedPublisherOptions
  readonly #inbox = createInbox()
  /** Pending messages in send order. */
  readonly #pending = new Map<number, Pending>()
  #last = 0
  #timer: Timer | undefined

  constructor(options: AcknowledgedPublisherOptions) {
    const { connection } = options
    this.#options = options
    connection.subscribe(`${this.#inbox}.*`, { callback: (error, message) => this.#take(error, message) })
    void connection
      .closed()
      .then((error) => this.#rejectAll(error instanceof Error ? error : new Error('the connection to NATS has ended')))
  }

  /** Rejects if the message is refused or unanswered. Messages are sent in the order of the calls. */
  publish({ subject, data, headers }: PublishedMessage): Promise<Acknowledgement> {
    const { connection, clock, timeoutMs } = this.#options
    this.#last += 1
    const number = this.#last
    return new Promise((resolve, reject) => {
      connection.publish(subject, data, { reply: `${this.#inbox}.${number}`, headers })
      this.#pending.set(number, { giveUpMs: clock.monotonic() + timeoutMs, resolve, reject })
      this.#timer ??= clock.after(timeoutMs, () => this.#giveUp())
    })
  }

  #take(error: Error | null, message: Msg): void {
    if (error !== null) {
      this.#rejectAll(error)
      return
    }
    const number = Number(message.subject.slice(this.#inbox.length + 1))
    const pending = this.#pending.get(number)
    if (pending === undefined) return
    this.#pending.delete(number)
    const answer = parseAcknowledgement(message)
    if (answer instanceof Error) pending.reject(answer)
    else pending.resolve(answer)
  }

  /** Rejects messages whose wait is over, and sets the timer for the next one. */
  #giveUp(): void {
    const { clock } = this.#options
    this.#timer = undefined
    const nowMs = clock.monotonic()
    for (const [number, { giveUpMs, reject }] of this.#pending) {
      if (giveUpMs > nowMs) {
        this.#timer = clock.after(giveUpMs - nowMs, () => this.#giveUp())
        return
      }
      this.#pending.delete(number)
      reject(new Error('NATS has not acknowledged a message in time'))
    }
  }

  #rejectAll(error: Error): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const all = [...this.#pending.values()]
    this.#pending.clear()
    for (const { reject } of all) reject(error)
  }
}

/** Parses an answer: a refusal, for example by a server without the stream, or an acknowledgement. */
function parseAcknowledgement(message: Msg): Acknowledgement | Error {
  if (message.data.length === 0) return new Error(`NATS has no stream for ${message.headers?.description || 'this subject'}`)
  try {
    const { seq, duplicate, error } = message.json<{ seq?: number; duplicate?: boolean; error?: { description?: string } }>()
    if (error !== undefined) return new Error(`NATS refused a message: ${error.description ?? 'without a reason'}`)
    if (typeof seq !== 'number') return new Error('NATS answered a message with something other than an acknowledgement')
    return { sequence: seq, isDuplicate: duplicate === true }
  } catch {
    return new Error('NATS answered a message with invalid JSON')
  }
}
