import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

/** Annotations are copied to what a Deployment makes, so a change of them is a change of what is wanted. */
export const deploymentStrategy: KindRules = {
  countsChange: (object, live) => textOf(object) !== textOf(live),
}

function textOf({ metadata: { annotations = {} } }: ApiObject): string {
  return JSON.stringify(Object.entries(annotations).sort(([left], [right]) => (left < right ? -1 : 1)))
}
