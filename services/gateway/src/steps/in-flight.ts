import type { FlowControl } from '../flow-control/flow-control.ts'
import { type SeatParts, takeSeat } from '../flow-control/take-seat.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request.ts'
import { tooManyRequests } from '../respond.ts'
import type { GatewayState } from '../state.ts'
import { isLongRunning, type Step } from './step.ts'

/** Bounds of the requests in flight, watches aside. */
export interface InFlightBounds {
  /** 0: no bound. */
  readonly readsMax: number
  /** 0: no bound. */
  readonly writesMax: number
}

/** What bounding the requests in flight needs. */
export type InFlightParts = SeatParts & {
  readonly state: Pick<GatewayState, 'readsInFlight' | 'writesInFlight'>
  /** Absent: the bounds of `limits.ts`. */
  readonly inFlight: InFlightBounds | undefined
  /** Absent: two plain bounds, on reads and on writes. */
  readonly flowControl: FlowControl | undefined
}

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Bounds how much is done at once. A full server answers 429. */
export const inFlight: Step<InFlightParts> = (request, parts) => {
  const { flowControl } = parts
  if (flowControl !== undefined) {
    const seated = takeSeat(request, flowControl, parts)
    if (seated !== undefined) return seated.then(() => count(request, parts))
  } else if (isFull(request, parts)) throw tooManyRequests()
  count(request, parts)
}

/** Without flow control reads and writes have a bound each; administrators are let through, so that they can help. */
function isFull(request: GatewayRequest, { state, inFlight: bounds }: Pick<InFlightParts, 'state' | 'inFlight'>): boolean {
  if (isLongRunning(request) || request.user.groups.includes('system:masters')) return false
  const max = isWrite(request) ? (bounds?.writesMax ?? limits.writesInFlightMax) : (bounds?.readsMax ?? limits.readsInFlightMax)
  return max > 0 && (isWrite(request) ? state.writesInFlight : state.readsInFlight) >= max
}

function count(request: GatewayRequest, { state }: Pick<InFlightParts, 'state'>): void {
  if (isLongRunning(request)) return
  if (isWrite(request)) state.writesInFlight += 1
  else state.readsInFlight += 1
  request.onFinish(() => {
    if (isWrite(request)) state.writesInFlight -= 1
    else state.readsInFlight -= 1
  })
}

function isWrite({ method }: GatewayRequest): boolean {
  return writingMethods.has(method)
}
