import { endingSignals, leaveEarlySignals } from './early-signals.ts'
import type { Log } from './log.ts'

/** A part of a server. It starts after the parts added before it, and stops before them. */
export interface Part {
  readonly name: string
  readonly start?: () => Promise<void> | void
  readonly stop?: () => Promise<void> | void
}

/** The parts of a server, in the order of their start. */
export interface Lifecycle {
  /** Starts the part now and stops it in `stop`. If it fails to start, the parts started before it are stopped. */
  run(part: Part): Promise<void>
  /** Stops all parts in reverse order. A failure is logged and does not keep other parts from stopping. */
  stop(): Promise<void>
}

/** A lifecycle with no parts. */
export function createLifecycle({ log }: { log: Log }): Lifecycle {
  const running: Part[] = []
  let stopping: Promise<void> | undefined
  const stopAll = async () => {
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await part.stop?.()
      } catch (error) {
        log.error({ part: part.name, err: error }, 'a part failed to stop')
      }
    }
  }
  return {
    async run(part) {
      try {
        await part.start?.()
        running.push(part)
      } catch (error) {
        await stopAll()
        throw error
      }
    },
    stop: () => (stopping ??= stopAll()),
  }
}

/** The signals of a process. */
export interface SignalSource {
  on(signal: (typeof endingSignals)[number], listener: () => void): unknown
  off(signal: (typeof endingSignals)[number], listener: () => void): unknown
  exit(code: number): void
}

/** The source of signals, and the parts that they end. */
export interface TerminationOptions {
  readonly source: SignalSource
  /** Stops the server; the process then exits with 0, or with 1 on failure. */
  readonly stop: () => Promise<void>
  readonly log: Log
}

/** Any interval works, since the timer only keeps the process alive. */
const holdMs = 60_000

/** Stops the server on SIGTERM or SIGINT and exits; a second signal exits at once. */
export function stopOnSignal({ source, stop, log }: TerminationOptions): { close(): void } {
  let isStopping = false
  const listener = () => {
    if (isStopping) return source.exit(1)
    isStopping = true
    // Without this timer, the process could end after the last connection, before the parts have stopped.
    const hold = setInterval(() => {}, holdMs)
    stop()
      .then(
        () => source.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the server failed to stop')
          source.exit(1)
        },
      )
      .finally(() => clearInterval(hold))
  }
  for (const signal of endingSignals) source.on(signal, listener)
  leaveEarlySignals()
  return {
    close() {
      for (const signal of endingSignals) source.off(signal, listener)
    },
  }
}
