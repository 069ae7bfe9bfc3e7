import type { Clock } from '@orch/platform'
import type { Faults } from '../faults/faults.ts'
import { withoutWork } from '../faults/without-work.ts'
import type { Step } from './step.ts'

/** A request that waits for its turn, as an order sees it. */
export interface OrderedRequest {
  readonly user: string
  readonly method: string
  /** Path with its query. */
  readonly target: string
}

/** Lets the requests of a test's clients pass one at a time. */
export interface RequestOrder {
  /** Resolves when the request may pass. */
  turn(request: OrderedRequest): Promise<void>
}

/** The dependencies of an order. */
export interface TurnParts {
  /** Absent: requests pass as they come. */
  readonly order: RequestOrder | undefined
  readonly faults: Faults | undefined
  readonly clock: Clock
}

/** Waits for the turn of the request. Those of the server's own parts and of the test itself pass as they come. */
export const takeTurn: Step<TurnParts> = (request, parts) => {
  const { order, faults } = parts
  if (order === undefined || faults?.spares(request) === true) return undefined
  const { exchange, user, method } = request
  return withoutWork(request, parts, () => order.turn({ user: user.name, method, target: exchange.target }))
}
