import { endingSignals, leaveEarlySignals } from './early-signals.ts'
import type { Log } from './log.ts'

/** The open parts of a server. Names of parts are for the log. */
export interface Lifecycle {
  /** Closes the part in `stop`, before the parts that were opened earlier. Returns the part. */
  opened<P extends { close(): unknown }>(name: string, part: P): P
  /** Calls the function in `stop`, before the parts that were opened earlier are closed. */
  onStop(name: string, stop: () => unknown): void
  /** Stops all parts in reverse order. A failure is logged and does not keep other parts from stopping. */
  stop(): Promise<void>
}

/** A lifecycle with no parts. */
export function createLifecycle({ log }: { log: Log }): Lifecycle {
  const running: { readonly name: string; readonly stop: () => unknown }[] = []
  let stopping: Promise<void> | undefined
  const stopAll = async () => {
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await part.stop()
      } catch (error) {
        log.error({ part: part.name, err: error }, 'a part failed to stop')
      }
    }
  }
  return {
    opened(name, part) {
      running.push({ name, stop: () => part.close() })
      return part
    },
    onStop: (name, stop) => void running.push({ name, stop }),
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
