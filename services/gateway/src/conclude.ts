import type { Explanation } from './explain/explanation.ts'
import type { GatewayParts } from './parts.ts'
import type { GatewayRequest } from './request.ts'
import { endTrace, traceFieldsOf } from './trace.ts'

/** Counts, logs and traces a request that has been answered, and frees what it held. */
export function conclude(request: GatewayRequest, parts: GatewayParts): void {
  request.finish()
  request.audit?.responseComplete()
  const durationMs = parts.clock.monotonic() - request.startedMs
  parts.metrics.count(request, durationMs)
  // What is nobody's would push out what is somebody's.
  if (request.explanation !== undefined && request.isKnown) keepExplanation(request, request.explanation, durationMs, parts)
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

function keepExplanation(request: GatewayRequest, explanation: Explanation, durationMs: number, { explanations }: GatewayParts): void {
  const { auditId, method, path, code, info } = request
  explanations?.keep({ auditId, explanation, method, path, code, durationMs, info })
}
