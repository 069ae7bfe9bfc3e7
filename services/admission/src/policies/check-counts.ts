import type { MetricCount } from '@orch/core/contracts'
import { KeptCounts } from '../kept-counts.ts'
import type { PolicyBinding } from './bound-policies.ts'

/** A counted decision. */
export interface Check {
  readonly policy: string
  /** Undefined if the policy could not be evaluated for any binding. */
  readonly binding: PolicyBinding | undefined
  /** `allow`, `deny`, `warn` or `audit`. */
  readonly action: string
  readonly error: 'no_error' | 'policy_evaluation_error' | 'policy_configuration_error'
  readonly elapsedMs: number
}

const total = 'apiserver_validating_admission_policy_check_total'
const duration = 'apiserver_validating_admission_policy_check_duration_seconds'

/** Counts the decisions of policies. */
export class CheckCounts {
  readonly #kept = new KeptCounts()

  of({ policy, binding, action, error, elapsedMs }: Check): readonly MetricCount[] {
    const labels = () => ({ policy, policy_binding: binding?.name ?? '', enforcement_action: action, error_type: error })
    const owner = binding ?? this
    const key = binding !== undefined && error === 'no_error' ? action : `${policy} ${action} ${error}`
    const observed = this.#kept.one(duration, owner, key, labels)
    return [this.#kept.one(total, owner, key, labels), { ...observed, value: elapsedMs / 1000 }]
  }
}

/** A counted change by a mutating policy. */
interface Mutation extends Pick<Check, 'policy' | 'elapsedMs'> {
  readonly binding: PolicyBinding
  readonly error: string
}

/** Counts the changes by mutating policies. */
export class MutationCounts {
  readonly #kept = new KeptCounts()

  of({ policy, binding, error, elapsedMs }: Mutation): readonly MetricCount[] {
    const labels = () => ({ policy, policy_binding: binding.name, error_type: error })
    const observed = this.#kept.one('apiserver_mutating_admission_policy_check_duration_seconds', binding, error, labels)
    return [
      this.#kept.one('apiserver_mutating_admission_policy_check_total', binding, error, labels),
      { ...observed, value: elapsedMs / 1000 },
    ]
  }
}
