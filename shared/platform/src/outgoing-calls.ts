/** The answer that a test puts in place of a call. */
export interface CallRefusal {
  readonly code: number
  /** Seconds of the header `Retry-After`; undefined: there is none. */
  readonly retryAfter: number | undefined
  readonly message: string
  /** The message in a Status, in JSON. */
  readonly body: string
}

/** One call to another server. */
export interface OutgoingCall<Answer> {
  /** The kind of the server and its name: `webhook/deny.example.com`. */
  readonly to: string
  /** Raised when the caller gives up. */
  readonly signal: AbortSignal
  send(): Promise<Answer>
  /** The answer with a status that no server has sent; it may throw instead. */
  refuse(refusal: CallRefusal): Answer
  /** The answer, which breaks off after so many bytes of its body; it may throw instead. */
  truncate(answer: Answer, bytes: number): Answer
  /** Releases an answer that is not read. */
  drop?(answer: Answer): void
}

/** The calls of a server, under the faults of a test. */
export interface OutgoingCalls {
  /** Makes a call, or fails as if it had been made. */
  pass<Answer>(call: OutgoingCall<Answer>): Promise<Answer>
}

/** Makes a call; `calls` is absent where there is no test. */
export function passCall<Answer>(calls: OutgoingCalls | undefined, call: OutgoingCall<Answer>): Promise<Answer> {
  return calls === undefined ? call.send() : calls.pass(call)
}

/** The end of an answer within its body, in the words of Go. */
export function brokenAnswer(): Error {
  return Object.assign(new Error('unexpected EOF'), { code: 'ECONNRESET' })
}
