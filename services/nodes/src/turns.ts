import { type Clock, type EventTurns, eventTurns, TurnBudget } from '@orch/platform'

/** Renewals of Leases in one turn of the event loop: some milliseconds. */
const renewalsPerTurn = 25
/** Nodes that start in one turn, each with a dozen writes. */
const startsPerTurn = 10

/** Calls of probes and hooks in one turn: each takes up to a millisecond. */
const callsPerTurn = 25

/** The bounds of the work of all nodes in one turn of the event loop. */
export interface NodeTurns {
  readonly event: EventTurns
  readonly renewals: TurnBudget
  readonly starts: TurnBudget
  readonly calls: TurnBudget
}

export function nodeTurns(clock: Pick<Clock, 'work' | 'isVirtual'>, signal: AbortSignal): NodeTurns {
  return {
    event: eventTurns(clock, signal),
    renewals: new TurnBudget(renewalsPerTurn),
    starts: new TurnBudget(startsPerTurn),
    calls: new TurnBudget(callsPerTurn),
  }
}

const renewMs = 10_000
/** Nodes of one turn renew together, which takes a third less CPU than four turns of 25 nodes. */
const nodesPerTurn = 100
/** Interval between the turns of many nodes. */
const turnMs = 1_000
/** A timer may end this much too early, and its turn must not come twice. */
const earlyMs = 100

/**
 * Time until the next turn of a node. Turns are at the same moments of each ten seconds, whenever a node was started and however late its last turn was:
 * timers that follow each other by an interval drift apart.
 */
export function untilTurn(index: number, nowMs: number): number {
  const turn = (Math.floor(index / nodesPerTurn) * turnMs) % renewMs
  return turn + renewMs * Math.floor((nowMs + earlyMs - turn) / renewMs + 1) - nowMs
}
