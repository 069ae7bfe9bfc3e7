import { isJsonObject } from '../../json/member.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, partAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { betaSpecToSecond } from '../conversion/autoscaler.ts'
import { requireOuterMetric, validateUtilization } from './autoscaler-metrics.ts'
import { numberOf } from './checks.ts'

const windowSecondsMax = 3600
const periodSecondsMax = 1800
/** The first level at which kube-apiserver is known to check the group of the target. */
const groupsSince = 34

/** A HorizontalPodAutoscaler in any version. */
export const autoscalerRules: Readonly<Record<string, TypeRules>> = {
  'autoscaling/v2.HorizontalPodAutoscalerSpec': [
    validateReplicas,
    'scaleTargetRef',
    { since: groupsSince, step: validateTargetGroup },
    'metrics',
    requireOuterMetric,
    validateUtilization,
    { passedOver: ['behavior'] },
    validateBehavior,
  ],
  'autoscaling/v2.HPAScalingRules': [validateWindow, 'selectPolicy', 'policies', 'tolerance'],
  'autoscaling/v2.HPAScalingPolicy': ['type', 'value', 'periodSeconds', validatePeriod],
  'autoscaling/v2.HorizontalPodAutoscalerStatus': [{ passedOver: ['currentMetrics'] }],
}

function validateReplicas(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const min = numberOf(spec, 'minReplicas')
  const max = numberOf(spec, 'maxReplicas') ?? 0
  const least = context.isGateOn('HPAScaleToZero') || numberOf(liveAt(context, at), 'minReplicas') === 0 ? 0 : 1
  if (min !== undefined && min < least) {
    errors.push(invalidValue('spec.minReplicas', min, `must be greater than or equal to ${least}`))
  }
  if (max < 1) refuseMost(errors, max, context)
  if (min !== undefined && max < min) errors.push(invalidValue('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'))
}

/** The first levels at which an absent `maxReplicas` is required, and at which the rule is declarative. */
const [requiredSince, declaredSince] = [36, 37]

function refuseMost(errors: FieldError[], max: number | bigint, { level, declared }: RuleContext): void {
  const field = 'spec.maxReplicas'
  if (level < requiredSince) errors.push(invalidValue(field, max, 'must be greater than 0'))
  else if (level < declaredSince && max >= 0) errors.push(requiredValue(field, 'must be set and greater than 0'))
  else
    (level < declaredSince ? errors : declared).push(
      max < 0 ? invalidValue(field, max, 'must be greater than or equal to 1') : requiredValue(field),
    )
}

/** The target's group version must name a group, unless the target is unchanged; ReplicationControllers have no group. */
function validateTargetGroup(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const target = partOf(spec, 'scaleTargetRef')
  const before = partOf(liveAt(context, at), 'scaleTargetRef')
  const [kind, apiVersion] = [textOf(target, 'kind'), textOf(target, 'apiVersion')]
  if (context.live !== undefined && kind === textOf(before, 'kind') && apiVersion === textOf(before, 'apiVersion')) return
  const parts = apiVersion.split('/')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.scaleTargetRef.apiVersion`, apiVersion, detail))
  if (parts.length > 2) refuse(`unexpected GroupVersion string: ${apiVersion}`)
  else if (kind !== 'ReplicationController' && (parts.length < 2 || parts[0] === '')) refuse('apiVersion must specify API group')
}

/** An empty list of policies is absent from the decoded object, which has the defaults, so the check reads the body. */
function validateBehavior(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const validate = context.rules.of('autoscaling/v2.HPAScalingRules')
  const body = isJsonObject(context.body) ? context.body : {}
  for (const direction of ['scaleUp', 'scaleDown']) {
    const rules = optionalPart(partOf(spec, 'behavior'), direction)
    if (rules === undefined) continue
    const { policies } = partAt(body, `spec.behavior.${direction}`)
    const isEmptied = Array.isArray(policies) && policies.length === 0
    validate(errors, isEmptied ? { ...rules, policies } : rules, `${at}.behavior.${direction}`, context)
  }
}

function validateWindow(errors: FieldError[], rules: Part, at: string): void {
  const seconds = numberOf(rules, 'stabilizationWindowSeconds')
  const refuse = (detail: string): void => void errors.push(invalidValue(`${at}.stabilizationWindowSeconds`, seconds, detail))
  if (seconds !== undefined && seconds < 0) refuse('must be greater than or equal to zero')
  if (seconds !== undefined && seconds > windowSecondsMax) refuse(`must be less than or equal to ${windowSecondsMax}`)
}

function validatePeriod(errors: FieldError[], policy: Part, at: string): void {
  const seconds = numberOf(policy, 'periodSeconds') ?? 0
  if (seconds <= periodSecondsMax) return
  errors.push(invalidValue(`${at}.periodSeconds`, seconds, `must be less than or equal to ${periodSecondsMax}`))
}

/** The rules of a HorizontalPodAutoscaler in v2beta1: the rules of v2, with the field names of v2beta1. */
export function validateBetaAutoscaler(autoscaler: Part, _live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const object = { ...autoscaler, spec: betaSpecToSecond(partOf(autoscaler, 'spec')) }
  return context.rules.checkObject('autoscaling/v2.HorizontalPodAutoscaler', 'main', { ...context, object })
}
