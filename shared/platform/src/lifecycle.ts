import { endingSignals, leaveEarlySignals } from './early-signals.ts'
import type { Log } from './log.ts'

/** Something that runs: it is started after those added before it, and stopped before them. */
export interface Part {
  readonly name: string
  readonly start?: () => Promise<void> | void
  readonly stop?: () => Promise<void> | void
}

/** The parts of a server, in the order of their start. */
export interface Lifecycle {
  /** Starts the part now; it will be stopped by `stop`. If it fails, the parts started before it are stopped. */
  run(part: Part): Promise<void>
  /** Stops everything, last started first; a failure is logged and does not keep the others from stopping. */
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
  /** Ends the server; the process exits 0 when it is done, 1 when it fails. */
  readonly stop: () => Promise<void>
  readonly log: Log
}

/** Any time will do. */
const holdMs = 60_000

/** On SIGTERM or SIGINT the server is stopped and the process exits; a second signal exits at once. */
export function stopOnSignal({ source, stop, log }: TerminationOptions): { close(): void } {
  let isStopping = false
  const listener = () => {
    if (isStopping) return source.exit(1)
    isStopping = true
    // Nothing else may hold the process after the last connection, and it would end with half of the stop undone.
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
