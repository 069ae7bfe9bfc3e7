import type { MetricCount } from '@orch/core/contracts'
import type { ConditionsReport } from '@orch/core/policies'
import { KeptCounts } from '../kept-counts.ts'

/** An owner of match conditions. */
export interface ConditionsOwner {
  /** A webhook or a policy in memory. */
  readonly owner: object
  readonly name: string
  readonly kind: 'webhook' | 'policy'
  readonly type: 'admit' | 'validate'
}

/** Counts the evaluations of match conditions. */
export class ConditionCounts {
  readonly #kept = new KeptCounts()

  of({ isExcluded, errors, elapsedMs }: ConditionsReport, { owner, name, kind, type }: ConditionsOwner, operation: string): MetricCount[] {
    const one = (metric: string) =>
      this.#kept.one(`apiserver_admission_match_condition_${metric}`, owner, operation, () => ({ name, kind, type, operation }))
    const counts: MetricCount[] = [{ ...one('evaluation_seconds'), value: elapsedMs / 1000 }]
    if (errors > 0) counts.push({ ...one('evaluation_errors_total'), value: errors })
    if (isExcluded) counts.push(one('exclusions_total'))
    return counts
  }
}
