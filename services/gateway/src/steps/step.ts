import type { GatewayRequest } from '../request/request.ts'

/** One step on a request's way, and the parts it needs; it refuses by throwing. A promise is waited for only where one is returned. */
export type Step<Parts> = (request: GatewayRequest, parts: Parts) => void | Promise<void>
