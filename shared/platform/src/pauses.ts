import { setImmediate } from 'node:timers/promises'
import type { Steps } from '@orch/core/steps'
import { systemClock } from './clock.ts'

/** Yields to other work if the turn of the event loop has taken some time. */
export type Pause = () => Promise<void> | undefined

/** The longest time for which work blocks the event loop. */
const turnMs = 10

/** The pauses of one piece of work. */
export function pauses(): Pause {
  let sinceMs = systemClock.monotonic()
  const turn = async () => {
    await setImmediate()
    sinceMs = systemClock.monotonic()
  }
  return () => (systemClock.monotonic() - sinceMs < turnMs ? undefined : turn())
}

/** Takes steps, with pauses between them. Steps that need no pause give their result at once. */
export function runWithPauses<T>(steps: Steps<T>, pause: Pause): T | Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    const waiting = pause()
    if (waiting !== undefined) return waiting.then(() => runWithPauses(steps, pause))
  }
}
