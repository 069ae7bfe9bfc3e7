import type { ChangeMessage } from '@orch/core/contracts'

/** The last message of a stream. */
export interface LastMessage {
  /** The total number of messages that the stream has received. */
  readonly sequence: number
  /** The id of the message; undefined if the stream no longer holds it or never had one. */
  readonly id?: string | undefined
  readonly message?: ChangeMessage | undefined
}

/** The expected state of the stream. A message is refused if another publisher has written since. */
export interface PublishOptions {
  readonly id: string
  /** The sequence of the last message that the publisher knows. */
  readonly expectedSequence: number
  /** The id of that message, if the publisher sent it. */
  readonly expectedId?: string | undefined
}

/** Receives the contents of a stream. */
export interface ChangeListener {
  onMessage(message: ChangeMessage, bytes: number): void
  /** Called when no more messages will arrive; to continue, the reader subscribes again. */
  onEnd(error: unknown): void
}

/** Messages in one order for all readers. The server keeps them for a while and may lose them. */
export interface ChangeStream {
  /** Creates or corrects the stream, and returns its last message. */
  prepare(): Promise<LastMessage>
  /** Rejects if the message is refused, unanswered or a duplicate. Messages are accepted in the order of the calls. */
  publish(message: ChangeMessage, options: PublishOptions): Promise<void>
  /** Delivers every message that the stream accepts from now on; the returned function ends that. */
  follow(listener: ChangeListener): Promise<() => void>
  close(): Promise<void>
}
