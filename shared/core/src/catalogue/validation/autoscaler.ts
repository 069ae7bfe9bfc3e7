import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { betaSpecToSecond } from '../conversion/autoscaler.ts'
import { validateMetrics, validateObjectReference, validateUtilization } from './autoscaler-metrics.ts'
import { notNegative, numberOf } from './checks.ts'

const windowSecondsMax = 3600
const periodSecondsMax = 1800

/**
 * The rules of a HorizontalPodAutoscaler's spec, in any version. A list of policies that was given as an empty one is absent
 * from the decoded object, which then has the defaults: only the body tells.
 */
export function validateAutoscaler(autoscaler: Part, live: Part | undefined, _names: Names, { body, isGateOn }: RuleContext): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(autoscaler, 'spec')
  const min = numberOf(spec, 'minReplicas')
  const max = numberOf(spec, 'maxReplicas') ?? 0
  const least = isGateOn('HPAScaleToZero') || numberOf(partOf(live, 'spec'), 'minReplicas') === 0 ? 0 : 1
  if (min !== undefined && min < least) {
    errors.push(invalidValue('spec.minReplicas', min, `must be greater than or equal to ${least}`))
  }
  if (max < 1) errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than 0'))
  if (min !== undefined && max < min) errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
  validateObjectReference(errors, partOf(spec, 'scaleTargetRef'), 'spec.scaleTargetRef')
  validateMetrics(errors, itemsOf(spec, 'metrics'), min, isGateOn)
  validateUtilization(errors, spec)
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = optionalPart(partOf(spec, 'behavior'), direction)
    if (rules === undefined) continue
    const given = optionalPart(partOf(partOf({ body }, 'body'), 'spec'), 'behavior')
    const { policies } = partOf(given, direction)
    const isEmptied = Array.isArray(policies) && policies.length === 0
    validateScaling(errors, isEmptied ? { ...rules, policies } : rules, `spec.behavior.${direction}`)
  }
  return errors
}

function validateScaling(errors: FieldError[], rules: Part, at: string): void {
  const seconds = numberOf(rules, 'stabilizationWindowSeconds')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.stabilizationWindowSeconds`, seconds, detail))
  if (seconds !== undefined && seconds < 0) refuse('must be greater than or equal to zero')
  if (seconds !== undefined && seconds > windowSecondsMax) refuse(`must be less than or equal to ${windowSecondsMax}`)
  const choice = rules['selectPolicy']
  const choices = ['Disabled', 'Max', 'Min']
  if (typeof choice === 'string' && !choices.includes(choice)) errors.push(unsupportedValue(`${at}.selectPolicy`, choice, choices))
  const policies = itemsOf(rules, 'policies')
  if (policies.length === 0) errors.push(requiredValue(`${at}.policies`, 'must specify at least one Policy'))
  for (const [index, policy] of policies.entries()) validatePolicy(errors, policy, `${at}.policies[${index}]`)
}

function validatePolicy(errors: FieldError[], policy: Part, at: string): void {
  const type = textOf(policy, 'type')
  if (type !== 'Pods' && type !== 'Percent') errors.push(unsupportedValue(`${at}.type`, type, ['Percent', 'Pods']))
  for (const name of ['value', 'periodSeconds']) {
    const value = numberOf(policy, name) ?? 0
    if (value <= 0) errors.push(invalidValue(`${at}.${name}`, value, 'must be greater than zero'))
    if (name === 'periodSeconds' && value > periodSecondsMax) {
      errors.push(invalidValue(`${at}.periodSeconds`, value, `must be less than or equal to ${periodSecondsMax}`))
    }
  }
}

/** The rules of a HorizontalPodAutoscaler of v2beta1: those of the second version, in its words. */
export function validateBetaAutoscaler(autoscaler: Part, live: Part | undefined, names: Names, request: RuleContext): FieldError[] {
  return validateAutoscaler({ ...autoscaler, spec: betaSpecToSecond(partOf(autoscaler, 'spec')) }, live, names, request)
}

/** The counts of a HorizontalPodAutoscaler. */
export function validateAutoscalerStatus(autoscaler: Part): FieldError[] {
  const errors: FieldError[] = []
  notNegative(errors, partOf(autoscaler, 'status'), ['currentReplicas', 'desiredReplicas'], 'status')
  return errors
}
