import type { StatusCause } from '@orch/core/meta'
import { toMs } from '@orch/platform'

/** The connection that an effect ends: the stream of the request, or under HTTP/2 the whole connection with all its streams. */
export type CutScope = 'stream' | 'connection'

/** The effect of a fault on a request. */
export type Effect =
  | { readonly kind: 'delay'; readonly ms: number }
  | {
      readonly kind: 'refuse'
      readonly code: number
      readonly retryAfter: number | undefined
      readonly reason: string
      readonly message: string | undefined
      readonly causes: readonly StatusCause[]
      /** Also applies to a write without a resourceVersion if the code is 409. */
      readonly always: boolean
    }
  | { readonly kind: 'cut'; readonly when: 'before' | 'after'; readonly scope: CutScope }
  | { readonly kind: 'loseReply'; readonly scope: CutScope }
  | { readonly kind: 'hang' }
  | { readonly kind: 'truncate'; readonly bytes: number }
  | { readonly kind: 'refuseConnection' }
  | { readonly kind: 'blackHole' }

/** Delay before the request is served: a duration (`2s`, `1m30s`) or milliseconds of the server's clock. */
export function delay(time: string | number): Effect {
  return { kind: 'delay', ms: toMs('delay', time) }
}

/** Default reasons of a Status by code. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** Details of a refusal. */
export interface RefuseOptions {
  /** Seconds in the header `Retry-After`, which clients obey in real time; by default 0 for 429 and 503, and otherwise no header. */
  readonly retryAfter?: number | undefined
  /** Reason of the Status; by default that of the code. */
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly causes?: readonly StatusCause[] | undefined
  /** A 409 is also for writes without a resourceVersion. */
  readonly always?: boolean | undefined
}

/** The request is answered with a Status of this code, and not served. A 409 is for writes with a resourceVersion. */
export function refuse(code: number, { retryAfter, reason, message, causes = [], always = false }: RefuseOptions = {}): Effect {
  if (!Number.isInteger(code) || code < 400 || code > 599)
    throw new RangeError(`refuse(): ${code} is no code of an error: expected 400 to 599`)
  if (retryAfter !== undefined && !(Number.isSafeInteger(retryAfter) && retryAfter >= 0))
    throw new RangeError(`refuse(): retryAfter is ${retryAfter}: expected a whole number of seconds from 0`)
  return {
    kind: 'refuse',
    code,
    retryAfter: retryAfter ?? (code === 429 || code === 503 ? 0 : undefined),
    reason: reason ?? reasons[code] ?? (code < 500 ? 'BadRequest' : 'InternalError'),
    message,
    causes,
    always,
  }
}

/** The connection ends without a byte of an answer, before or after the request is served. */
export function cut({
  when = 'before',
  scope = 'stream',
}: {
  readonly when?: 'before' | 'after' | undefined
  readonly scope?: CutScope | undefined
} = {}): Effect {
  return { kind: 'cut', when, scope }
}

/** The object is written, then the connection ends without a byte of an answer. Requests that write nothing are not hit. */
export function loseReply({ scope = 'stream' }: { readonly scope?: CutScope | undefined } = {}): Effect {
  return { kind: 'loseReply', scope }
}

/** The request is neither served nor answered; the connection stays. */
export function hang(): Effect {
  return { kind: 'hang' }
}

/** The answer is truncated after this number of bytes of its body. */
export function truncate(bytes: number): Effect {
  if (!Number.isInteger(bytes) || bytes < 0) throw new RangeError(`truncate(): ${bytes} is no number of bytes`)
  return { kind: 'truncate', bytes }
}

/** The whole connection is reset; a client that reconnects is reset at its first matching request. */
export function refuseConnection(): Effect {
  return { kind: 'refuseConnection' }
}

/** Nothing that the client sends is read, including pings, and nothing is answered; the connection stays. */
export function blackHole(): Effect {
  return { kind: 'blackHole' }
}
