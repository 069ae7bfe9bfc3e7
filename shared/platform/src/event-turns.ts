import type { Clock } from './clock.ts'
import { passTurns, TurnBudget } from './turn-budget.ts'

/** Turns of the event loop that precede the first event: enough for the writes that follow from one create. They take no time on an idle server. */
const turnsBefore = 16
/** Events of all sources in one turn: some milliseconds. */
const eventsPerTurn = 8
/** The name of this work, for clocks that wait for its end. */
const what = 'events'

/**
 * The turns in which events are sent: other work precedes them. `isFirst` is true if no other event waits. A manual clock delays no first event, as the
 * test decides the order of all requests. The signal ends the wait.
 */
export function eventTurns(
  { work, isVirtual }: Pick<Clock, 'work' | 'isVirtual'>,
  signal: AbortSignal,
): (isFirst: boolean) => Promise<void> | undefined {
  const budget = new TurnBudget(eventsPerTurn)
  const passFirst = async () => {
    work?.begin(what)
    for (let turn = 0; turn < turnsBefore && !signal.aborted; turn++) await passTurns(1)
    await budget.take(1)
    work?.end(what)
  }
  return (isFirst) => (isFirst && isVirtual !== true ? passFirst() : budget.take(1))
}
