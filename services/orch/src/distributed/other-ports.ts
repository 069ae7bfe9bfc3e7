import type { Log } from '@orch/platform'
import { AddressTakenError } from '../start-error.ts'

/** A start on ports that were free a moment before. */
export interface PortAttempt<T> {
  /** Selects ports and starts on them; rejects with an `AddressTakenError` if another program was faster. */
  attempt(): Promise<T>
  /** True if the address was selected here, so that another can be used. */
  isOurs(address: string): boolean
  /** Ends the processes of the attempt. */
  stop(): Promise<void>
  /** Aborted when the start is no longer wanted. */
  readonly signal: AbortSignal
  readonly log: Log
}

/** Maximum attempts of the start, as another program is rarely faster each time. */
const attemptsMax = 5

/** Starts, and repeats that with other ports if another program has taken one meanwhile. */
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
