import { jsonEqual } from '@orch/core/json'
import type { Pod } from '@orch/core/scheduling'

/** True if a Pod differs in more than its version, its status and the owners of its fields (SCHED-08). */
export function isSchedulingChange(before: Pod, after: Pod): boolean {
  return !jsonEqual(before.spec, after.spec) || !jsonEqual(metadataOf(before), metadataOf(after))
}

function metadataOf({ metadata }: Pod): object {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...rest } = metadata
  return rest
}
