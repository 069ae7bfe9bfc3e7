import type { GatewayRequest } from '../request/request.ts'

/** One step of a request, with the parts it needs; it refuses by throwing. Only a returned promise is awaited. */
export type Step<Parts> = (request: GatewayRequest, parts: Parts) => void | Promise<void>
