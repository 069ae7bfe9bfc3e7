import type { StorageService } from '@orch/core/contracts'
import type { IsGateOn } from '@orch/core/feature-gates'
import type { Names } from '@orch/core/names'
import type { Clock, Log, Metrics, TimerWheel } from '@orch/platform'

/** The surroundings of the gateway's parts; each part names the members that it needs. */
export interface Surroundings {
  readonly names: Names
  /** Minor number of the API level. */
  readonly level: number
  readonly isGateOn: IsGateOn
  readonly storage: StorageService
  readonly clock: Clock
  readonly wheel: TimerWheel
  readonly log: Log
  readonly metrics: Metrics
  /** A number in [0, 1). */
  readonly random: () => number
  /** Prefix of all URL paths; '' for none. */
  readonly pathPrefix: string
}
