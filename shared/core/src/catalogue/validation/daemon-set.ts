import { intOrString, ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { countOrPercent, immutable, isNoneOf, notDecremented, notMoreThanWhole, notNegative } from './checks.ts'
import { labelsOf, notSelected, refuseEmptySelector, selectorTakes, validateLastingTemplate } from './pod-template.ts'

/** The rules of a DaemonSet's spec. */
export function validateDaemonSet(set: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(set, 'spec')
  const selector = optionalPart(spec, 'selector')
  const template = partOf(spec, 'template')
  errors.push(...validateLabelSelector(selector, 'spec.selector'))
  // Without a selector the set takes no Pod, and so not that of its template.
  if (selectorTakes(selector, labelsOf(template)) === false) errors.push(notSelected(template, 'spec.template.metadata.labels'))
  if (selector !== undefined) refuseEmptySelector(errors, selector, 'daemonset')
  validateLastingTemplate(errors, template, { owner: 'DaemonSet', path: 'spec.template', names })
  notNegative(errors, spec, ['minReadySeconds'], 'spec')
  validateStrategy(errors, partOf(spec, 'updateStrategy'))
  notNegative(errors, spec, ['revisionHistoryLimit'], 'spec')
  if (live !== undefined) immutable(errors, { part: spec, live: partOf(live, 'spec'), name: 'selector', path: 'spec.selector' })
  return errors
}

function validateStrategy(errors: FieldError[], strategy: Part): void {
  const type = textOf(strategy, 'type')
  if (type === 'OnDelete') return
  if (type !== 'RollingUpdate') {
    const printed = goValue(ref('apps/v1.DaemonSetUpdateStrategy'), strategy)
    errors.push(unsupportedValue('spec.updateStrategy', printed, ['RollingUpdate', 'OnDelete']))
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
    const surge = goValue(intOrString(), rolling['maxSurge'])
    errors.push(invalidValue(`${at}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'))
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
