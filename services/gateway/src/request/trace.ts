import { parseTraceparent, type Tracer, traceFields } from '@orch/platform'
import type { GatewayRequest } from './request.ts'
import type { RequestInfo } from './request-info.ts'

/** Frequently requested by machines, and irrelevant to a trace. */
const probePath = /^\/(?:healthz|livez|readyz|metrics)(?:\/|$)/

/** Begins the span of a request, as a child of the client's span if the request names one. */
export function beginTrace(request: GatewayRequest, tracer: Tracer): void {
  const header = request.exchange.header('traceparent')
  const parent = header === undefined || parseTraceparent(header) === undefined ? undefined : header
  const isProbe = parent === undefined && request.info.kind === 'path' && probePath.test(request.info.path)
  const span = isProbe ? undefined : tracer.start(request.method, { kind: 'server', parent })
  const traceparent = span?.traceparent ?? parent
  if (traceparent !== undefined) request.trace = { traceparent, span }
}

/** Ends the span, once the request and its result are known. */
export function endTrace(request: GatewayRequest): void {
  const span = request.trace?.span
  if (span === undefined) return
  const { info, method, path, code, auditId, isUnserved, user } = request
  span.attribute('http.request.method', method)
  span.attribute('url.path', path)
  span.attribute('request.id', auditId)
  if (code > 0) span.attribute('http.response.status_code', code)
  if (user.name !== '') span.attribute('user', user.name)
  const route = isUnserved && info.kind === 'resource' ? undefined : routeOf(info, code)
  if (route !== undefined) span.attribute('http.route', route)
  if (info.kind === 'resource' && !isUnserved) {
    span.rename(`${info.verb} ${info.resource}${info.subresource === '' ? '' : `/${info.subresource}`}`)
  }
  if (code >= 500) span.fail(new Error(`answered with ${code}`))
  span.end()
}

/**
 * The path with parameters in the place of names: these are few, for any paths that clients ask for.
 *
 *   /apis/apps/v1/namespaces/default/deployments/web/scale → /apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale
 */
export function routeOf(info: RequestInfo, code: number): string | undefined {
  // Only served non-resource paths name spans, as others are unbounded.
  if (info.kind === 'path') return code >= 200 && code < 400 ? info.path : undefined
  const { group, version, namespace, resource, name, subresource, rest } = info
  const segments = [
    group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    ...(namespace === '' || resource === 'namespaces' ? [] : ['namespaces/{namespace}']),
    resource,
    ...(name === '' ? [] : ['{name}']),
    ...(subresource === '' ? [] : [subresource]),
    ...(rest.length === 0 ? [] : ['{path}']),
  ]
  return segments.join('/')
}

/** The log's fields of a request's trace. */
export function traceFieldsOf({ trace }: GatewayRequest): ReturnType<typeof traceFields> {
  return traceFields(trace?.traceparent)
}
