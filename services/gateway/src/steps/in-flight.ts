import { type GatewayRequest, tooManyRequests } from '../request/index.ts'
import type { GatewayState } from '../server/state.ts'
import type { Step } from './step.ts'

/** Limits of the requests in flight, without watches. */
export interface InFlightBounds {
  /** 0 for no limit. */
  readonly readsMax: number
  /** 0 for no limit. */
  readonly writesMax: number
}

/** The dependencies of limiting the requests in flight. */
export interface InFlightParts {
  readonly state: Pick<GatewayState, 'readsInFlight' | 'writesInFlight'>
  readonly inFlight: InFlightBounds
}

/** Without flow control reads and writes have a limit each. A full server answers with 429. */
export const boundInFlight: Step<InFlightParts> = (request, parts) => {
  if (isFull(request, parts)) throw tooManyRequests()
  request.enter(parts.state)
}

/** Administrators are not limited, so that they can intervene. */
function isFull(request: GatewayRequest, { state, inFlight: bounds }: InFlightParts): boolean {
  if (request.isLongRunning || request.user.groups.includes('system:masters')) return false
  const max = request.isWrite ? bounds.writesMax : bounds.readsMax
  return max > 0 && (request.isWrite ? state.writesInFlight : state.readsInFlight) >= max
}
