import type { Log } from '@orch/platform'
import { AddressTakenError } from '../start-error.ts'

/** A start on ports that were free a moment ago. */
export interface PortAttempt<T> {
  /** Chooses ports and starts on them; rejects with an `AddressTakenError` where another program was faster. */
  attempt(): Promise<T>
  /** True if the address was chosen here, so that another will do. */
  isOurs(address: string): boolean
  /** Ends the processes of the attempt. */
  stop(): Promise<void>
  /** Raised when the start is not wanted any more. */
  readonly signal: AbortSignal
  readonly log: Log
}

/** Attempts until the start fails: another program can be faster twice, but hardly each time. */
const attemptsMax = 5

/** Starts, and does so again with other ports where another program has taken one in between. */
export async function withOtherPorts<T>({ attempt, isOurs, stop, signal, log }: PortAttempt<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof AddressTakenError) || !isOurs(error.address) || attempts === attemptsMax || signal.aborted) throw error
      log.warn({ address: error.address }, 'another program has taken a port: starting again with others')
      await stop()
    }
  }
}
