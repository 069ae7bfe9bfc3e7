import { processorsLast } from '@orch/core/catalogue'
import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

/** Metrics are kept in an order of their own. Who gave them in another order owns the list nevertheless. */
export const autoscalerStrategy: KindRules = {
  prepareCreate: orderMetrics,
  completeUpdate: orderMetrics,
}

function orderMetrics(object: ApiObject): void {
  const spec = (object.spec ?? {}) as { readonly metrics?: readonly Readonly<Record<string, unknown>>[] }
  if (spec.metrics !== undefined) object.spec = { ...spec, metrics: processorsLast(spec.metrics) }
}
