import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** Annotations are copied to a Deployment's ReplicaSets, so they count as changes of the spec. */
export const deploymentStrategy: RulesOf<'apps/v1.Deployment'> = {
  countsChange: (object, live) => textOf(object) !== textOf(live),
}

function textOf({ metadata: { annotations = {} } }: BuiltIn<'apps/v1.Deployment'>): string {
  return JSON.stringify(Object.entries(annotations).sort(([left], [right]) => (left < right ? -1 : 1)))
}
