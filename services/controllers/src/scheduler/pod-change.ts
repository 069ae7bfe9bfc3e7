import { jsonEqual } from '@orch/core/json'
import type { Pod } from '@orch/core/scheduling'

/** True if a Pod differs in more than its version, managedFields and status (SCHED-08), or has got device claims. */
export function isSchedulingChange(before: Pod, after: Pod): boolean {
  const [made, madeNow] = [before.status.resourceClaimStatuses, after.status.resourceClaimStatuses]
  return !jsonEqual(made, madeNow) || !jsonEqual(before.spec, after.spec) || !jsonEqual(metadataOf(before), metadataOf(after))
}

function metadataOf({ metadata }: Pod): object {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...rest } = metadata
  return rest
}
