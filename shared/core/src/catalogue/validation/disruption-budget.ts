import { ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import type { Part } from '../../validation/part.ts'
import type { TypeRules } from '../../validation/rule-book.ts'
import { isGiven } from './checks.ts'

/** A PodDisruptionBudget. */
export const disruptionBudgetRules: Readonly<Record<string, TypeRules>> = {
  'policy/v1.PodDisruptionBudgetSpec': [refuseBoth, 'minAvailable', 'maxUnavailable', 'selector', 'unhealthyPodEvictionPolicy'],
  'policy/v1.PodDisruptionBudgetStatus': ['conditions', '*'],
}

function refuseBoth(errors: FieldError[], spec: Part, at: string): void {
  if (!isGiven(spec, 'minAvailable') || !isGiven(spec, 'maxUnavailable')) return
  errors.push(
    invalidValue(at, goValue(ref('policy/v1.PodDisruptionBudgetSpec'), spec), 'minAvailable and maxUnavailable cannot be both set'),
  )
}
