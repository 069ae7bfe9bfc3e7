import type { GatewayParts } from './parts.ts'
import type { GatewayRequest } from './request.ts'
import { endTrace, traceFieldsOf } from './trace.ts'

/** Counts, logs and traces a request that has been answered, and frees what it held. */
export function conclude(request: GatewayRequest, parts: GatewayParts): void {
  request.finish()
  request.audit?.responseComplete()
  const durationMs = parts.clock.monotonic() - request.startedMs
  parts.metrics.count(request, durationMs)
  endTrace(request)
  parts.log.debug(
    {
      method: request.method,
      path: request.path,
      code: request.code,
      durationMs,
      auditId: request.auditId,
      user: request.user.name,
      ...traceFieldsOf(request),
    },
    'request',
  )
}
