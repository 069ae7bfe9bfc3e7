import { type Catalogue, createCatalogue } from '@orch/core/catalogue'
import type { Chance, Clock, Lifecycle, Log, Tracer } from '@orch/platform'
import type { ApiOptions } from './api/settings.ts'

/** The parts shared by every service in a process. */
export interface Surroundings {
  readonly catalogue: Catalogue
  /** Whatever a service opens is stopped with it. */
  readonly lifecycle: Lifecycle
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer | undefined
}

/** The resources that are served. */
export function catalogueOf({ profile, runtimeConfig, featureGates, level, servesMetrics }: ApiOptions): Catalogue {
  return createCatalogue(profile, { runtimeConfig, isGateOn: featureGates.isOn, minor: level, servesMetrics })
}
