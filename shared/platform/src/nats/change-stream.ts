import type { ChangeMessage } from '@orch/core/contracts'

/** The last message of a stream. */
export interface LastMessage {
  /** The number of messages that the stream has ever received. */
  readonly sequence: number
  /** Absent: it is no longer held, or there was none. */
  readonly id?: string | undefined
  readonly message?: ChangeMessage | undefined
}

/** The expectations of a message, which is refused if another publisher has written since. */
export interface PublishOptions {
  readonly id: string
  /** Sequence of the last message that the publisher knows of. */
  readonly expectedSequence: number
  /** Id of that message, where the publisher has sent it itself. */
  readonly expectedId?: string | undefined
}

/** Receives the contents of a stream. */
export interface ChangeListener {
  onMessage(message: ChangeMessage, bytes: number): void
  /** Nothing comes any more; a reader that wants more subscribes again. */
  onEnd(error: unknown): void
}

/** Messages in one order for all, kept for a while by a server that may lose them. */
export interface ChangeStream {
  /** Creates or corrects the stream, and returns its last message. */
  prepare(): Promise<LastMessage>
  /** Rejected when it is refused, unanswered or known already. Messages are taken in in the order of the calls. */
  publish(message: ChangeMessage, options: PublishOptions): Promise<void>
  /** Every message that is taken in from now on; the function that is returned ends it. */
  follow(listener: ChangeListener): Promise<() => void>
  close(): Promise<void>
}
