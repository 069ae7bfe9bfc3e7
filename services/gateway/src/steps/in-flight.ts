import type { Clock, TimerWheel } from '@orch/platform'
import type { Classification, FlowControl } from '../flow-control/flow-control.ts'
import { type RejectReason, Seat, type Waiting } from '../flow-control/priority-level.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request.ts'
import { queryInteger } from '../request-info.ts'
import { tooManyRequests } from '../respond.ts'
import type { GatewayState } from '../state.ts'
import type { Step } from './step.ts'

/** Bounds of the requests in flight, watches aside. */
export interface InFlightBounds {
  /** 0: no bound. */
  readonly readsMax: number
  /** 0: no bound. */
  readonly writesMax: number
}

/** What bounding the requests in flight needs. */
export interface InFlightParts {
  readonly clock: Clock
  readonly wheel: TimerWheel
  readonly state: Pick<GatewayState, 'readsInFlight' | 'writesInFlight'>
  /** Absent: the bounds of `limits.ts`. */
  readonly inFlight: InFlightBounds | undefined
  /** Absent: two plain bounds, on reads and on writes. */
  readonly flowControl: FlowControl | undefined
}

const writingMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Bounds how much is done at once. A full server answers 429. */
export const inFlight: Step<InFlightParts> = (request, parts) => {
  if (parts.flowControl !== undefined) return takeSeat(request, parts.flowControl, parts)
  if (isFull(request, parts)) throw tooManyRequests()
  begin(request, undefined, parts)
}

/** Without flow control reads and writes have a bound each; administrators are let through, so that they can help. */
function isFull(request: GatewayRequest, { state, inFlight: bounds }: Pick<InFlightParts, 'state' | 'inFlight'>): boolean {
  if (request.isLongRunning || request.user.groups.includes('system:masters')) return false
  const max = isWrite(request) ? (bounds?.writesMax ?? limits.writesInFlightMax) : (bounds?.readsMax ?? limits.readsInFlightMax)
  return max > 0 && (isWrite(request) ? state.writesInFlight : state.readsInFlight) >= max
}

function isWrite({ method }: GatewayRequest): boolean {
  return writingMethods.has(method)
}

/** Gives a request its place, or a promise where it has to wait for one. What gets none is refused with 429. */
function takeSeat(request: GatewayRequest, flowControl: FlowControl, parts: InFlightParts): Promise<void> | undefined {
  const { user, info } = request
  const classification = flowControl.classify(user, info)
  const { level, series, headers } = classification
  request.flowHeaders = headers
  const width = level.isExempt ? 1 : flowControl.widthOf(info, { limit: limitOf(request), bodyBytes: request.exchange.announcedBytes })
  const reception = level.receive({ flow: flowControl.flowOf(classification, user, info), width, asked: request })
  switch (reception.kind) {
    case 'seated':
      begin(request, { seat: reception.seat, classification, width, flowControl }, parts)
      return undefined
    case 'queued':
      series.queued(reception.queueLength)
      return wait(request, reception.waiting, { classification, width, flowControl }, parts)
    case 'rejected':
      series.rejected(reception.reason)
      throw tooManyRequests()
  }
}

interface Taken {
  readonly classification: Classification
  readonly width: number
  readonly flowControl: FlowControl
}

interface Seated extends Taken {
  readonly seat: Seat
}

/** A client may ask for fewer objects than there are. */
function limitOf({ query, info }: GatewayRequest): number {
  return query.isEmpty || info.kind === 'path' || info.verb !== 'list' ? 0 : (queryInteger(query, 'limit') ?? 0)
}

async function wait(request: GatewayRequest, waiting: Waiting, taken: Taken, parts: InFlightParts): Promise<void> {
  const { series } = taken.classification
  const { clock, wheel } = parts
  const sinceMs = clock.monotonic()
  const waitMs = (request.deadlineMs - request.startedMs) * limits.flowWaitPart
  const timer = wheel.after(waitMs, { due: () => waiting.giveUp('time-out') })
  request.exchange.onClose(() => waiting.giveUp('cancelled'))
  series.addWaiting(1)
  const outcome: Seat | RejectReason = await waiting.seated
  timer.cancel()
  series.addWaiting(-1)
  series.waited((clock.monotonic() - sinceMs) / 1000, outcome instanceof Seat)
  if (outcome instanceof Seat) return begin(request, { seat: outcome, ...taken }, parts)
  series.rejected(outcome)
  throw tooManyRequests()
}

/** Counts a request as long as it is worked on. Without flow control it has no seat. */
function begin(request: GatewayRequest, seated: Seated | undefined, { clock, state }: InFlightParts): void {
  const kind = request.isLongRunning ? 'watch' : 'regular'
  const counter = isWrite(request) ? 'writesInFlight' : 'readsInFlight'
  if (kind === 'regular') state[counter] += 1
  const series = seated?.classification.series
  series?.dispatched()
  series?.begun(seated?.width ?? 0)
  request.seat = {
    release() {
      request.seat = undefined
      if (kind === 'regular') state[counter] -= 1
      if (seated === undefined) return
      const { seat, width, flowControl } = seated
      seat.release()
      series?.ended((clock.monotonic() - seat.startedMs) / 1000, width, kind)
      if (request.info.kind === 'resource' && request.info.verb === 'list') flowControl.noteList(request.info, request.sentBytes)
    },
  }
}
