import { type Clock, sleep } from '../clock.ts'
import { retryDelayMs } from '../retry-delay.ts'
import { restartDelayMsMax } from './limits.ts'
import type { Program } from './program.ts'

export interface KeepRunningOptions {
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  /** Aborted before the program is stopped. */
  readonly signal: AbortSignal
  /** Called with the end of the program and its last output, before it is started again. */
  onEnd(end: string): void
}

/** Starts a program again each time that it ends by itself, after a growing pause while it does not become ready. */
export async function keepRunning(program: Program, { clock, random, signal, onEnd }: KeepRunningOptions): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const end = await program.ended()
    if (signal.aborted) return
    onEnd(end)
    await sleep(clock, retryDelayMs({ attempt, maxMs: restartDelayMsMax, random: random() }), signal)
    if (signal.aborted) return
    // A start that fails is another end.
    const isReady = await program.start().then(
      () => true,
      () => false,
    )
    if (isReady) attempt = 0
  }
}
