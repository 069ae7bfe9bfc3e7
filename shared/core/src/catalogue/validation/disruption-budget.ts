import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf } from '../../validation/part.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { countOrPercent, isGiven, notMoreThanWhole, notNegative } from './checks.ts'
import { validateSharedConditions } from './conditions.ts'

/** The rules of a PodDisruptionBudget's spec. */
export function validateDisruptionBudget(budget: Part): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(budget, 'spec')
  const names = ['minAvailable', 'maxUnavailable']
  if (names.every((name) => isGiven(spec, name))) {
    errors.push(
      invalidValue('spec', goValue(ref('policy/v1.PodDisruptionBudgetSpec'), spec), 'minAvailable and maxUnavailable cannot be both set'),
    )
  }
  for (const name of names.filter((other) => isGiven(spec, other))) {
    countOrPercent(errors, spec, name, 'spec')
    notMoreThanWhole(errors, spec, name, 'spec')
  }
  return [...errors, ...validateLabelSelector(optionalPart(spec, 'selector'), 'spec.selector')]
}

/** The counts and conditions of a PodDisruptionBudget. */
export function validateDisruptionBudgetStatus(budget: Part): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(budget, 'status')
  validateSharedConditions(errors, itemsOf(status, 'conditions'), 'status.conditions')
  notNegative(errors, status, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'], 'status')
  return errors
}
