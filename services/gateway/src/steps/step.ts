import type { GatewayRequest } from '../request.ts'

/** One step on a request's way, and the parts it needs; it refuses by throwing. A promise is waited for only where one is returned. */
export type Step<Parts> = (request: GatewayRequest, parts: Parts) => void | Promise<void>

/** Whether a request may last: a watch, or a tunnel. Such requests have no deadline and do not count as in flight. */
export function isLongRunning(request: GatewayRequest): boolean {
  return request.info.kind === 'resource' && request.info.verb === 'watch'
}
