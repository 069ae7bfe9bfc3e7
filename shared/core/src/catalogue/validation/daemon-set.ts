import { intOrString, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { isNoneOf, notDecremented, notMoreThanWhole } from './checks.ts'
import { labelsOf, notSelected, refuseEmptySelector, selectorTakes, validateLastingTemplate } from './pod-template.ts'

export const daemonSetRules: Readonly<Record<string, TypeRules>> = {
  'apps/v1.DaemonSetSpec': [
    'selector',
    { passedOver: ['template', 'updateStrategy'] },
    validateSelected,
    'minReadySeconds',
    validateStrategy,
    'revisionHistoryLimit',
  ],
  'apps/v1.RollingUpdateDaemonSet': ['maxUnavailable', 'maxSurge', requireOneWay],
  'apps/v1.DaemonSetStatus': [
    ...['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady', 'observedGeneration'],
    '*',
    (errors, status, at, context) => notDecremented(errors, status, liveAt(context, at), 'collisionCount'),
  ],
}

function validateSelected(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const selector = optionalPart(spec, 'selector')
  const template = partOf(spec, 'template')
  // A DaemonSet without a selector matches no Pods, including those of its template.
  if (selectorTakes(selector, labelsOf(template)) === false) errors.push(notSelected(template, 'spec.template', context))
  if (selector !== undefined) refuseEmptySelector(errors, selector, 'daemonset')
  validateLastingTemplate(errors, template, { owner: 'DaemonSet', path: 'spec.template', context })
}

function validateStrategy(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const strategy = partOf(spec, 'updateStrategy')
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
  else context.rules.of('apps/v1.RollingUpdateDaemonSet')(errors, rolling, at, context)
}

/** On each node, a rolling update either deletes the old Pod first or creates the new one first. */
function requireOneWay(errors: FieldError[], rolling: Part, at: string): void {
  const both = ['maxUnavailable', 'maxSurge']
  for (const name of both) notMoreThanWhole(errors, rolling, name, at)
  const [isUnavailable, isSurging] = both.map((name) => !isNoneOf(rolling[name]))
  if (isUnavailable && isSurging) {
    const surge = goValue(intOrString(), rolling['maxSurge'])
    errors.push(invalidValue(`${at}.maxSurge`, surge, 'may not be set when maxUnavailable is non-zero'))
  } else if (!isUnavailable && !isSurging) errors.push(requiredValue(`${at}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
}
