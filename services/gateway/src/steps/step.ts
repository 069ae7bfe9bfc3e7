import type { GatewayParts } from '../parts.ts'
import type { GatewayRequest } from '../request.ts'

/** One step on a request's way; it refuses by throwing. A promise is waited for only where one is returned. */
export type Step = (request: GatewayRequest, parts: GatewayParts) => void | Promise<void>

/** Whether a request may last: a watch, or a tunnel. Such requests have no deadline and do not count as in flight. */
export function isLongRunning(request: GatewayRequest): boolean {
  return request.info.kind === 'resource' && request.info.verb === 'watch'
}
