/** The answer that a test substitutes for a call. */
export interface CallRefusal {
  readonly code: number
  /** The seconds in the header `Retry-After`; undefined to omit the header. */
  readonly retryAfter: number | undefined
  readonly message: string
  /** The message as a Status in JSON. */
  readonly body: string
}

/** One call to another server. */
export interface OutgoingCall<Answer> {
  /** The kind of the server and its name: `webhook/deny.example.com`. */
  readonly to: string
  /** Raised when the caller gives up. */
  readonly signal: AbortSignal
  send(): Promise<Answer>
  /** Returns the given refusal as an answer, or throws it. */
  refuse(refusal: CallRefusal): Answer
  /** Returns the answer cut off after a number of body bytes, or throws. */
  truncate(answer: Answer, bytes: number): Answer
  /** Releases an unread answer. */
  drop?(answer: Answer): void
}

/** The outgoing calls of a server, in which a test injects faults. */
export interface OutgoingCalls {
  /** Makes a call, or fails in its place. */
  pass<Answer>(call: OutgoingCall<Answer>): Promise<Answer>
}

/** Makes a call; `calls` is undefined without a test. */
export function passCall<Answer>(calls: OutgoingCalls | undefined, call: OutgoingCall<Answer>): Promise<Answer> {
  return calls === undefined ? call.send() : calls.pass(call)
}

/** The error of an answer that ends within its body, in the words of Go. */
export function brokenAnswer(): Error {
  return Object.assign(new Error('unexpected EOF'), { code: 'ECONNRESET' })
}
