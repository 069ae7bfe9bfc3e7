import type { CallContext } from '@orch/core/contracts'
import type { Clock } from '@orch/platform'
import type { GatewayRequest } from './request.ts'

/** What knows the time. */
interface Clocked {
  readonly clock: Clock
}

/** A request, as far as calls on its behalf look into it. */
export type CallOrigin = Pick<GatewayRequest, 'deadlineMs' | 'trace' | 'auditId'>

/** Milliseconds that a request may still take. */
export function remainingMs(request: Pick<CallOrigin, 'deadlineMs'>, { clock }: Clocked): number {
  return Math.max(0, request.deadlineMs - clock.monotonic())
}

/** What calls to other services on behalf of a request carry. */
export function callContext(request: CallOrigin, parts: Clocked): CallContext {
  return { ...originOf(request), timeoutMs: remainingMs(request, parts) }
}

/** Whose request a call belongs to. */
export function originOf({ trace, auditId }: Pick<CallOrigin, 'trace' | 'auditId'>): Pick<CallContext, 'traceparent' | 'requestId'> {
  return { traceparent: trace?.span?.traceparent, requestId: auditId }
}
