import type { FieldError } from '../../meta/status.ts'
import { countOrPercent, immutable, isNoneOf, notDecremented, notMoreThanWhole, notNegative } from './checks.ts'
import { requiredValue, unsupportedValue } from './field-errors.ts'
import { goIntOrString, invalidGoValue } from './go-values.ts'
import { optionalPart, type Part, partOf, textOf } from './part.ts'
import { validateSelectedTemplate } from './pod-template.ts'

/** The rules of a DaemonSet's spec. */
export function validateDaemonSet(set: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(set, 'spec')
  validateSelectedTemplate(errors, spec, { owner: 'DaemonSet', path: 'spec.template' }, 'daemonset')
  notNegative(errors, spec, ['minReadySeconds'], 'spec')
  validateStrategy(errors, partOf(spec, 'updateStrategy'))
  notNegative(errors, spec, ['revisionHistoryLimit'], 'spec')
  if (live !== undefined) immutable(errors, spec, partOf(live, 'spec'), 'selector', 'spec.selector')
  return errors
}

function validateStrategy(errors: FieldError[], strategy: Part): void {
  const type = textOf(strategy, 'type')
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    errors.push(unsupportedValue('spec.updateStrategy', type, ['RollingUpdate', 'OnDelete']))
    return
  }
  const at = 'spec.updateStrategy.rollingUpdate'
  const rolling = optionalPart(strategy, 'rollingUpdate')
  if (rolling === undefined) errors.push(requiredValue(at))
  else validateRollingUpdate(errors, rolling, at)
}

/** On each node either the old Pod goes first or the new one comes first. */
function validateRollingUpdate(errors: FieldError[], rolling: Part, at: string): void {
  const both = ['maxUnavailable', 'maxSurge']
  for (const name of both) countOrPercent(errors, rolling, name, at)
  for (const name of both) notMoreThanWhole(errors, rolling, name, at)
  const [isUnavailable, isSurging] = both.map((name) => !isNoneOf(rolling[name]))
  if (isUnavailable && isSurging) {
    const surge = goIntOrString(rolling['maxSurge'])
    errors.push(invalidGoValue(`${at}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'))
  } else if (!isUnavailable && !isSurging) errors.push(requiredValue(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
}

const counts = [
  ...['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration'],
  ...['updatedNumberScheduled', 'numberAvailable', 'numberUnavailable', 'collisionCount'],
]

/** The counts of a DaemonSet. */
export function validateDaemonSetStatus(set: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(set, 'status')
  notNegative(errors, status, counts, 'status')
  notDecremented(errors, status, partOf(live, 'status'), 'collisionCount')
  return errors
}
