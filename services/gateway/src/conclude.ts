import type { Clock, Log } from '@orch/platform'
import type { Explanation, KeptExplanations } from './explain/explanation.ts'
import type { GatewayMetrics } from './metrics.ts'
import type { GatewayRequest } from './request.ts'
import { endTrace, traceFieldsOf } from './trace.ts'

/** What the end of a request needs. */
export interface ConcludeParts {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<GatewayMetrics, 'count'>
  /** Absent: how writes were decided is not kept. */
  readonly explanations: KeptExplanations | undefined
}

/** Counts, logs and traces a request that has been answered. */
export function conclude(request: GatewayRequest, parts: ConcludeParts): void {
  request.audit?.responseComplete()
  const durationMs = parts.clock.monotonic() - request.startedMs
  parts.metrics.count(request, durationMs)
  // An unauthenticated request must not push out those of users.
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

function keepExplanation(request: GatewayRequest, explanation: Explanation, durationMs: number, { explanations }: ConcludeParts): void {
  const { auditId, method, path, code, info } = request
  explanations?.keep({ auditId, explanation, method, path, code, durationMs, info })
}
