import type { Steps } from '@orch/core/steps'
import { systemClock } from './clock.ts'

/** Yields to other work if the turn of the event loop has taken some time. */
export type Pause = () => Promise<void> | undefined

/** The longest time for which work blocks the event loop. */
const turnMs = 10

/** Work that waits for a turn of the event loop, of all pieces of work in this process. */
const waiting: (() => void)[] = []

/** Resolves in a later turn, after earlier callers. A turn has one piece of work, so that many together block the loop no longer than one. */
export function laterTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(goOn)
  })
}

function goOn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(goOn)
}

/** The pauses of one piece of work. */
export function pauses(): Pause {
  let sinceMs = systemClock.monotonic()
  const turn = async () => {
    await laterTurn()
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
