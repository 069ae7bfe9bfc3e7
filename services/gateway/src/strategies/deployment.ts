import type { BuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** Annotations are copied to what a Deployment makes, so a change of them is a change of what is wanted. */
export const deploymentStrategy: RulesOf<'apps/v1.Deployment'> = {
  countsChange: (object, live) => textOf(object) !== textOf(live),
}

function textOf({ metadata: { annotations = {} } }: BuiltIn<'apps/v1.Deployment'>): string {
  return JSON.stringify(Object.entries(annotations).sort(([left], [right]) => (left < right ? -1 : 1)))
}
