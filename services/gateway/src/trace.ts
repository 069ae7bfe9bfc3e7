import { parseTraceparent, type Span, type Tracer, traceFields } from '@orch/platform'
import type { GatewayRequest } from './request.ts'

/** What a request is part of, and what records it. */
export interface RequestTrace {
  /** W3C trace context of the request's span; where nobody records, the client's own, for the logs. */
  readonly traceparent: string
  /** Absent: not sampled. */
  readonly span: Span | undefined
}

/** Asked again and again by machines, and of no interest to a trace. */
const probePath = /^\/(?:healthz|livez|readyz|metrics)(?:\/|$)/

/** Begins the span of a request, below the client's where it has told of one. */
export function beginTrace(request: GatewayRequest, tracer: Tracer): void {
  const header = request.exchange.header('traceparent')
  const parent = header === undefined || parseTraceparent(header) === undefined ? undefined : header
  const isProbe = parent === undefined && request.info.kind === 'path' && probePath.test(request.info.path)
  const span = isProbe ? undefined : tracer.start(request.method, { kind: 'server', parent })
  const traceparent = span?.traceparent ?? parent
  if (traceparent !== undefined) request.trace = { traceparent, span }
}

/** Ends the span, now that it is known what the request was and what became of it. */
export function endTrace(request: GatewayRequest): void {
  const span = request.trace?.span
  if (span === undefined) return
  const { info, method, path, code, auditId, isUnserved } = request
  span.attribute('http.request.method', method)
  span.attribute('url.path', path)
  span.attribute('request.id', auditId)
  if (code > 0) span.attribute('http.response.status_code', code)
  if (info.kind === 'resource' && !isUnserved) {
    span.rename(`${info.verb} ${info.resource}${info.subresource === '' ? '' : `/${info.subresource}`}`)
  }
  if (code >= 500) span.fail(new Error(`answered with ${code}`))
  span.end()
}

/** What the log says of the trace of a request. */
export function traceFieldsOf({ trace }: GatewayRequest): ReturnType<typeof traceFields> {
  return traceFields(trace?.traceparent)
}
