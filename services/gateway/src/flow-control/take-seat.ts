import type { Clock, TimerWheel } from '@orch/platform'
import { limits } from '../limits.ts'
import { queryInteger } from '../query.ts'
import type { GatewayRequest } from '../request.ts'
import { tooManyRequests } from '../respond.ts'
import { isLongRunning } from '../steps/step.ts'
import type { Classification, FlowControl } from './flow-control.ts'
import { type RejectReason, Seat, type Waiting } from './priority-level.ts'

/** What waiting for a seat needs. */
export interface SeatParts {
  readonly clock: Clock
  readonly wheel: TimerWheel
}

/** Gives a request its place, or a promise where it has to wait for one. What gets none is refused with 429. */
export function takeSeat(request: GatewayRequest, flowControl: FlowControl, parts: SeatParts): Promise<void> | undefined {
  const { user, info } = request
  const classification = flowControl.classify(user, info)
  const { level, series, headers } = classification
  request.flowHeaders = headers
  const width = level.isExempt ? 1 : flowControl.widthOf(info, { limit: limitOf(request), bodyBytes: request.exchange.announcedBytes })
  const reception = level.receive({ flow: flowControl.flowOf(classification, user, info), width, asked: request })
  switch (reception.kind) {
    case 'seated':
      begin(request, reception.seat, { classification, width, flowControl }, parts)
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

/** A client may ask for fewer objects than there are. */
function limitOf({ query, info }: GatewayRequest): number {
  return query.isEmpty || info.kind === 'path' || info.verb !== 'list' ? 0 : (queryInteger(query, 'limit') ?? 0)
}

async function wait(request: GatewayRequest, waiting: Waiting, taken: Taken, parts: SeatParts): Promise<void> {
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
  if (outcome instanceof Seat) return begin(request, outcome, taken, parts)
  series.rejected(outcome)
  throw tooManyRequests()
}

function begin(request: GatewayRequest, seat: Seat, { classification, width, flowControl }: Taken, { clock }: SeatParts): void {
  const { series } = classification
  const kind = isLongRunning(request) ? 'watch' : 'regular'
  series.dispatched()
  series.begun(width)
  request.seat = {
    release() {
      request.seat = undefined
      seat.release()
      series.ended((clock.monotonic() - seat.startedMs) / 1000, width, kind)
      if (request.info.kind === 'resource' && request.info.verb === 'list') flowControl.noteList(request.info, request.sentBytes)
    },
  }
}
