import { type AdmissionService, admissionContract, type NodesService, type StorageService } from '@orch/core/contracts'
import { printRelease } from '@orch/core/feature-gates'
import { dialContract } from '@orch/platform/rpc'
import { openAdmission } from '../admission/open.ts'
import type { AdmissionSettings } from '../admission/settings.ts'
import { everythingServed } from '../api/settings.ts'
import { catalogueOf } from '../surroundings.ts'
import { reachable } from './remote-storage.ts'
import type { Assembly } from './replica.ts'

/** The place of a gateway's admission: separate services, or its own process. */
export type AdmissionPlace =
  | { readonly kind: 'service'; readonly addresses: readonly string[] }
  | { readonly kind: 'in-process'; readonly settings: AdmissionSettings }

/** Admission in either place. */
export interface ReachedAdmission {
  readonly service: AdmissionService
  /** Resolves when it was first reachable. */
  readonly reached: Promise<void>
  /** The checks of its readiness. */
  readonly checks: readonly ReturnType<typeof reachable>[]
}

/** Connects to admission; in this process it uses the same contract by direct calls. */
export async function reachAdmission(
  place: AdmissionPlace,
  parts: { readonly storage: StorageService; readonly nodes: NodesService | undefined },
  assembly: Assembly,
): Promise<ReachedAdmission> {
  const { catalogue, lifecycle, metrics, rpc } = assembly
  if (place.kind === 'in-process') {
    // A separate service knows resources that this gateway does not serve, as webhooks may name them.
    const everything = catalogueOf(everythingServed(catalogue.names.profile, [printRelease(catalogue.level)]))
    const admission = await openAdmission({ ...parts, admission: place.settings, metrics }, { ...assembly, catalogue: everything })
    return { service: admission, reached: Promise.resolve(), checks: [] }
  }
  const admission = lifecycle.opened('connections to admission', dialContract(admissionContract, { ...rpc, addresses: place.addresses }))
  return { ...admission, checks: [reachable('admission', admission)] }
}
