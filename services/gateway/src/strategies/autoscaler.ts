import { processorsLast } from '@orch/core/catalogue'
import type { MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** The last level that stores objects in the first version, where metrics have another order. */
const keptInOrderUntil = 26

/** Metrics are stored in that order. A writer of another order still owns the list. */
export const autoscalerStrategy: RulesOf<'autoscaling/v2.HorizontalPodAutoscaler'> = {
  prepareCreate: (object, _names, _user, level) => orderMetrics(object, level),
  completeUpdate: (object, _live, { level }) => orderMetrics(object, level),
}

function orderMetrics(object: MutableBuiltIn<'autoscaling/v2.HorizontalPodAutoscaler'>, level: number): void {
  const { spec } = object
  if (level <= keptInOrderUntil && spec.metrics !== undefined) object.spec = { ...spec, metrics: processorsLast(spec.metrics) }
}
