import type { Clock } from './clock.ts'
import { passTurns, TurnBudget } from './turn-budget.ts'

/** Turns of the event loop that precede the first event: enough for the writes that follow from one create. They take no time on an idle server. */
const turnsBefore = 16
/** Events of all sources in one turn: some milliseconds. */
const eventsPerTurn = 32
/** The name of this work, for clocks that wait for its end. */
const what = 'events'

/** The turns in which events are sent: other work precedes them. */
export interface EventTurns {
  /** Resolves when the first of several events may be sent. Undefined with a manual clock, as the test decides the order of all requests. */
  first(): Promise<void> | undefined
  /** Resolves when this number of events may be sent together; undefined if they may at once. */
  take(count: number): Promise<void> | undefined
}

/** The signal ends the wait for the first event. */
export function eventTurns({ work, isVirtual }: Pick<Clock, 'work' | 'isVirtual'>, signal: AbortSignal): EventTurns {
  const budget = new TurnBudget(eventsPerTurn)
  const passFirst = async () => {
    work?.begin(what)
    for (let turn = 0; turn < turnsBefore && !signal.aborted; turn++) await passTurns(1)
    work?.end(what)
  }
  return { first: () => (isVirtual === true ? undefined : passFirst()), take: (count) => budget.take(count) }
}
