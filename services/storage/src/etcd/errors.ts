import { valueTooLarge } from '@orch/core/contracts'
import { expired, StatusError, serviceUnavailable, timeout } from '@orch/core/meta'
import { limits } from '../limits.ts'

/** The meaning of an error of a call to etcd. */
export type EtcdFailure =
  /** The call was not sent. */
  | 'unsent'
  /** No answer, or an answer without an outcome. */
  | 'unanswered'
  /** Like `unanswered`, because of a timeout. */
  | 'late'
  | 'compacted'
  | 'tooLarge'
  | 'full'
  | 'denied'
  | 'other'

/** The call did not reach etcd, or etcd temporarily refuses calls. */
const neverLeft =
  /No connection established|Channel closed before call started|ECONNREFUSED|Name resolution failed|Waiting for LB pick|etcdserver: too many requests/

/** Interprets an error of the client. Only its message is reliable: `14 UNAVAILABLE: connect ECONNREFUSED …`. */
export function toFailure(error: unknown): EtcdFailure {
  const message = error instanceof Error ? error.message : String(error)
  const code = Number(/^(\d+) [A-Z_]+:/.exec(message)?.[1] ?? Number.NaN)
  if (/required revision has been compacted/.test(message)) return 'compacted'
  if (/request is too large|received message larger than max/.test(message)) return 'tooLarge'
  if (/database space exceeded/.test(message)) return 'full'
  if (/authentication failed|permission denied|invalid auth token|user name is empty|auth is not enabled/.test(message)) return 'denied'
  if (code === 7 || code === 16) return 'denied'
  if (neverLeft.test(message)) return 'unsent'
  if (code === 4) return 'late'
  if ([1, 2, 8, 10, 13, 14].includes(code)) return 'unanswered'
  return 'other'
}

/** The cause of an error; the error itself without one. */
export function causeOf(error: unknown): unknown {
  return error instanceof Error ? (error.cause ?? error) : error
}

/** True if an error, or its cause, says that etcd is unreachable for now. */
export function isAway(error: unknown): boolean {
  const failure = toFailure(causeOf(error))
  return failure === 'unsent' || failure === 'unanswered' || failure === 'late'
}

/** The StatusError for a failed call without side effects. */
export function toStatusError(cause: unknown): StatusError {
  if (cause instanceof StatusError) return cause
  const message = sayFailure(cause)
  switch (toFailure(cause)) {
    case 'compacted':
      return expired('The provided resource version is too old: etcdserver: mvcc: required revision has been compacted')
    case 'tooLarge':
      return valueTooLarge({ cause })
    case 'late':
      return timeout('etcd did not answer in time', { cause })
    case 'unsent':
    case 'unanswered':
    case 'full':
    case 'denied':
    case 'other':
      return unavailable(`the store can't be reached: ${message}`, cause)
  }
}

/** 503: the client may retry soon. */
export function unavailable(message: string, cause?: unknown): StatusError {
  return serviceUnavailable(message, { cause, retryAfterSeconds: limits.unavailableRetrySeconds })
}

/** An error in one line, without protocol details or addresses, which clients must not see. */
export function sayFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  switch (toFailure(error)) {
    case 'unsent':
      return sayUnsent(message)
    case 'late':
      return 'no answer in time'
    case 'unanswered':
    case 'compacted':
    case 'tooLarge':
    case 'full':
    case 'denied':
    case 'other':
      return withoutProtocol(message)
  }
}

function sayUnsent(message: string): string {
  if (/etcdserver: /.test(message)) return withoutProtocol(message)
  if (/Name resolution failed/.test(message)) return 'no connection (the address is not known)'
  const code = /\bE[A-Z]{4,}\b/.exec(message)?.[0]
  return code === undefined ? 'no connection' : `no connection (${code})`
}

function withoutProtocol(message: string): string {
  return message.replace(/^\d+ [A-Z_]+: /, '').split('\n', 1)[0] ?? ''
}
