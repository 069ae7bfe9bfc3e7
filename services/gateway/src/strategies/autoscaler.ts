import { processorsLast } from '@orch/core/catalogue'
import type { MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** Metrics are kept in an order of their own. Who gave them in another order owns the list nevertheless. */
export const autoscalerStrategy: RulesOf<'autoscaling/v2.HorizontalPodAutoscaler'> = {
  prepareCreate: orderMetrics,
  completeUpdate: orderMetrics,
}

function orderMetrics(object: MutableBuiltIn<'autoscaling/v2.HorizontalPodAutoscaler'>): void {
  const { spec } = object
  if (spec.metrics !== undefined) object.spec = { ...spec, metrics: processorsLast(spec.metrics) }
}
