import type { Clock } from '@orch/platform'
import type { Faults } from '../faults/faults.ts'
import { withoutWork } from '../faults/without-work.ts'
import type { Step } from './step.ts'

/** A request that waits for its turn. */
export interface OrderedRequest {
  readonly user: string
  readonly method: string
  /** Path with its query. */
  readonly target: string
}

/** Serializes the requests of a test's clients. */
export interface RequestOrder {
  /** Resolves when the request may continue. */
  turn(request: OrderedRequest): Promise<void>
}

/** The dependencies of a serial order. */
export interface TurnParts {
  /** Optional; without it requests are not serialized. */
  readonly order: RequestOrder | undefined
  readonly faults: Faults | undefined
  readonly clock: Clock
}

/** Waits for the turn of the request. Requests of the server's own parts and of the test itself do not wait. */
export const takeTurn: Step<TurnParts> = (request, parts) => {
  const { order, faults } = parts
  if (order === undefined || faults?.spares(request) === true) return undefined
  const { exchange, user, method } = request
  return withoutWork(request, parts, () => order.turn({ user: user.name, method, target: exchange.target }))
}
