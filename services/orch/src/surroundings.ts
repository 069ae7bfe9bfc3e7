import { type Catalogue, createCatalogue } from '@orch/core/catalogue'
import { Faults } from '@orch/gateway'
import { type Chance, type Clock, createLifecycle, type Lifecycle, type Log, type Tracer } from '@orch/platform'
import type { ApiOptions } from './api/settings.ts'

/** The parts shared by every service in a process. */
export interface Surroundings {
  readonly catalogue: Catalogue
  /** Stops everything that a service opens. */
  readonly lifecycle: Lifecycle
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  /** Undefined without tracing. */
  readonly tracer?: Tracer | undefined
  /** The faults of a test; undefined without faults. */
  readonly faults?: Faults | undefined
}

/** Assembles a server, or a service of its own: `build` opens the parts in order, and a failure closes those opened so far. */
export async function assemble<T>(log: Log, build: (lifecycle: Lifecycle) => Promise<T>): Promise<T> {
  const lifecycle = createLifecycle({ log })
  try {
    return await build(lifecycle)
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

/** The options of a server's stop. */
export interface StopOptions {
  /** The time for which the server still accepts requests while `/readyz` fails. */
  readonly delayMs: number
  /** The longest time over which the ends of watches are spread; 0 ends all at once. */
  readonly graceMs: number
  /** True if requests under way are answered; by default they are if there is a grace. */
  readonly finishesRequests?: boolean | undefined
}

/** The served resources. */
export function catalogueOf({ profile, runtimeConfig, featureGates, level, servesMetrics }: ApiOptions): Catalogue {
  return createCatalogue(profile, { runtimeConfig, isGateOn: featureGates.isOn, minor: level, servesMetrics })
}

/** The faults of a process: from a test or from FaultRules. */
export function faultsOf(
  { faults, followsFaultRules }: { readonly faults?: Faults | undefined; readonly followsFaultRules: boolean },
  world: Pick<Surroundings, 'chance' | 'clock' | 'log'>,
): Faults | undefined {
  return faults ?? (followsFaultRules ? new Faults(world) : undefined)
}
