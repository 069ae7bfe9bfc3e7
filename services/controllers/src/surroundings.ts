import type { Client } from '@orch/client'
import type { Names } from '@orch/core/names'
import type { Clock, Log } from '@orch/platform'

/** The surroundings of what a controller runs; each part names the members that it needs. */
export interface Surroundings {
  /** A client of the gateway with the identity of the controller. */
  readonly client: Client
  readonly names: Names
  readonly clock: Clock
  /** A number in [0, 1). */
  readonly random: () => number
  readonly log: Log
  /** Aborted when the controller must end. */
  readonly signal: AbortSignal
}
