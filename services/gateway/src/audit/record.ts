import type { User } from '@orch/core/contracts'
import type { Status } from '@orch/core/meta'
import type { AuditTrail } from '../request/request.ts'
import type { AuditDecision } from './decide.ts'
import type { AuditStage } from './policy.ts'

/** A body as sent on the wire. */
export interface AuditedBody {
  /** Media type, without parameters. */
  readonly contentType: string
  readonly chunks: readonly Uint8Array[]
}

/** The facts of a request's head, which is dropped when a long answer has begun. */
export interface AuditOrigin {
  readonly requestURI: string
  readonly sourceIPs: readonly string[]
  readonly userAgent: string
  /** In output form, equal in all events of the request. */
  readonly receivedTimestamp: string
}

/** Receives the stages of a record. */
export interface AuditReporter {
  report(record: AuditRecord, stage: AuditStage): void
}

/** The beginning of a record. */
export interface AuditRecordOptions {
  readonly decision: AuditDecision
  readonly user: User
  readonly origin: AuditOrigin
  readonly reporter: AuditReporter
  readonly answerBytesMax: number
  /** The request is about tokens. */
  readonly carriesTokens: boolean
}

/**
 * The record of one request for its events. Bodies are stored unparsed and parsed only when an event is written, so that a request pays only for its own
 * level.
 */
export class AuditRecord implements AuditTrail {
  readonly decision: AuditDecision
  /** The authenticated user, before impersonation. */
  readonly user: User
  readonly origin: AuditOrigin
  readonly carriesTokens: boolean
  body: AuditedBody | undefined
  /** The returned Status, if any. */
  status: Omit<Status, 'code'> | undefined
  /** An unexpected failure. */
  hasPanicked = false
  /** The request was not authenticated: one event records its refusal. */
  isRefused = false
  /** The answer was longer than the stored part. */
  isCut = false
  /** The last event of the request that waits for its bodies; the next one follows. */
  writing: Promise<void> | undefined
  #answer: (AuditedBody & { readonly chunks: Uint8Array[] }) | undefined
  #answerBytes = 0
  readonly #reporter: AuditReporter
  readonly #answerBytesMax: number

  constructor({ decision, user, origin, reporter, answerBytesMax, carriesTokens }: AuditRecordOptions) {
    this.decision = decision
    this.user = user
    this.origin = origin
    this.carriesTokens = carriesTokens
    this.#reporter = reporter
    this.#answerBytesMax = answerBytesMax
  }

  get answer(): AuditedBody | undefined {
    return this.isCut ? undefined : this.#answer
  }

  /** The answer is a Status, such as a refusal. */
  get isStatus(): boolean {
    return this.status !== undefined
  }

  /** True if a body is needed; at level Metadata only an object's name. */
  get wantsBody(): boolean {
    return this.decision.level !== 'None'
  }

  get wantsAnswer(): boolean {
    return this.decision.level === 'RequestResponse'
  }

  takeBody(contentType: string, bytes: Uint8Array): void {
    if (this.wantsBody) this.body = { contentType, chunks: [bytes] }
  }

  /** The first complete answer counts, as the sent bytes may be another form of it. */
  takeAnswer(contentType: string, bytes: Uint8Array): void {
    if (this.wantsAnswer && this.#answer === undefined) this.addAnswer(contentType, bytes)
  }

  /** A Status is recorded at every level, and completely with response bodies. */
  takeStatus(status: Omit<Status, 'code'>, hasPanicked: boolean): void {
    this.status = status
    this.hasPanicked = hasPanicked
    if (this.wantsAnswer) this.takeAnswer('application/json', Buffer.from(JSON.stringify(status)))
  }

  /** One piece of a streamed answer. */
  addAnswer(contentType: string, bytes: Uint8Array): void {
    if (!this.wantsAnswer || this.isCut) return
    this.#answerBytes += bytes.length
    if (this.#answerBytes > this.#answerBytesMax) {
      this.isCut = true
      this.#answer = undefined
      return
    }
    this.#answer ??= { contentType, chunks: [] }
    this.#answer.chunks.push(bytes)
  }

  /** A long answer has begun: a watch. */
  responseStarted(): void {
    this.#reporter.report(this, 'ResponseStarted')
  }

  /** The request has ended. */
  responseComplete(): void {
    this.#reporter.report(this, this.isRefused ? 'ResponseStarted' : this.hasPanicked ? 'Panic' : 'ResponseComplete')
  }
}
