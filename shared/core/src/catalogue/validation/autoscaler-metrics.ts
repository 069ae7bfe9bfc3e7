import type { IsGateOn } from '../../feature-gates.ts'
import { parseQuantity, quantitySign } from '../../meta/quantity.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel, checkPathSegment } from '../../meta/validate-names.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { type Part, partOf, textOf } from '../../validation/part.ts'
import { allowChecked, isGiven, numberOf, requireChecked, requireText } from './checks.ts'

type SourceRule = (errors: FieldError[], source: Part, at: string) => void

/** Kinds of metrics, by the field that describes them, in the order in which they are looked at. */
const sources: ReadonlyMap<string, SourceRule> = new Map<string, SourceRule>([
  ['object', validateObjectMetric],
  ['external', validateExternalMetric],
  ['pods', validatePodsMetric],
  ['resource', validateResourceMetric],
  ['containerResource', validateContainerMetric],
])

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const targetTypes = ['Utilization', 'Value', 'AverageValue']

/** What an autoscaler looks at. Without any replica only metrics from outside its Pods say anything. */
export function validateMetrics(
  errors: FieldError[],
  metrics: readonly Part[],
  minReplicas: number | bigint | undefined,
  isGateOn: IsGateOn,
): void {
  for (const [index, metric] of metrics.entries()) validateMetric(errors, metric, `spec.metrics[${index}]`, isGateOn)
  const hasOutside = metrics.some(({ type }) => type === 'Object' || type === 'External')
  if (minReplicas === 0 && !hasOutside) {
    errors.push(forbiddenValue('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
  }
}

function validateMetric(errors: FieldError[], metric: Part, at: string, isGateOn: IsGateOn): void {
  const type = textOf(metric, 'type')
  if (type === '') errors.push(requiredValue(`${at}.type`, 'must specify a metric source type'))
  else if (!types.includes(type)) errors.push(unsupportedValue(`${at}.type`, type, types))
  const present = [...sources.keys()].filter((name) => isGiven(metric, name))
  const first = present[0]
  if (first !== undefined) sources.get(first)?.(errors, partOf(metric, first), `${at}.${first}`)
  const wanted = types.includes(type) ? `${type.charAt(0).toLowerCase()}${type.slice(1)}` : ''
  if (wanted !== '' && !present.includes(wanted)) {
    const isOff = wanted === 'containerResource' && !isGateOn('HPAContainerMetrics')
    const hint = isOff ? ' (only allowed when HPAContainerMetrics feature is enabled)' : ''
    errors.push(requiredValue(`${at}.${wanted}`, `must populate information for the given metric source${hint}`))
  }
  if (present.length === 1) return
  for (const name of present.filter((other) => other !== wanted)) {
    errors.push(forbiddenValue(`${at}.${name}`, 'must populate the given metric source only'))
  }
}

/** A reference to an object of any kind. */
export function validateObjectReference(errors: FieldError[], reference: Part, at: string): void {
  requireChecked(errors, { part: reference, name: 'kind', at }, checkPathSegment)
  requireChecked(errors, { part: reference, name: 'name', at }, checkPathSegment)
}

function validateObjectMetric(errors: FieldError[], source: Part, at: string): void {
  validateObjectReference(errors, partOf(source, 'describedObject'), `${at}.describedObject`)
  const target = validateIdentified(errors, source, at)
  if (!isGiven(target, 'value') && !isGiven(target, 'averageValue')) {
    errors.push(requiredValue(`${at}.target.averageValue`, 'must set either a target value or averageValue'))
  }
}

function validateExternalMetric(errors: FieldError[], source: Part, at: string): void {
  const target = validateIdentified(errors, source, at)
  const given = ['value', 'averageValue'].filter((name) => isGiven(target, name))
  if (given.length === 0) {
    errors.push(requiredValue(`${at}.target.averageValue`, 'must set either a target value for metric or a per-pod target'))
  }
  if (given.length === 2) {
    errors.push(forbiddenValue(`${at}.target.value`, 'may not set both a target value for metric and a per-pod target'))
  }
}

function validatePodsMetric(errors: FieldError[], source: Part, at: string): void {
  const target = validateIdentified(errors, source, at)
  if (!isGiven(target, 'averageValue')) {
    errors.push(requiredValue(`${at}.target.averageValue`, 'must specify a positive target averageValue'))
  }
}

function validateResourceMetric(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'name', at }, 'must specify a resource name')
  validateUsageTarget(errors, partOf(source, 'target'), `${at}.target`)
}

function validateContainerMetric(errors: FieldError[], source: Part, at: string): void {
  requireText(errors, { part: source, name: 'name', at }, 'must specify a resource name')
  if (requireText(errors, { part: source, name: 'container', at }, 'must specify a container'))
    allowChecked(errors, { part: source, name: 'container', at }, checkLabel)
  validateUsageTarget(errors, partOf(source, 'target'), `${at}.target`)
}

function validateUsageTarget(errors: FieldError[], target: Part, at: string): void {
  validateTarget(errors, target, at)
  const given = ['averageUtilization', 'averageValue'].filter((name) => isGiven(target, name))
  if (given.length === 0) {
    errors.push(requiredValue(`${at}.averageUtilization`, 'must set either a target raw value or a target utilization'))
  }
  if (given.length === 2) {
    errors.push(forbiddenValue(`${at}.averageValue`, 'may not set both a target raw value and a target utilization'))
  }
}

/** The name of a metric and what it should be; gives the latter. */
function validateIdentified(errors: FieldError[], source: Part, at: string): Part {
  const metric = partOf(source, 'metric')
  const isNamed = requireText(errors, { part: metric, name: 'name', at: `${at}.metric` }, 'must specify a metric name')
  if (isNamed) allowChecked(errors, { part: metric, name: 'name', at: `${at}.metric` }, checkPathSegment)
  const target = partOf(source, 'target')
  validateTarget(errors, target, `${at}.target`)
  return target
}

function validateTarget(errors: FieldError[], target: Part, at: string): void {
  const type = textOf(target, 'type')
  if (type === '') errors.push(requiredValue(`${at}.type`, 'must specify a metric target type'))
  else if (!targetTypes.includes(type)) {
    errors.push(invalidValue(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue'))
  }
  for (const name of ['value', 'averageValue']) {
    const text = textOf(target, name)
    const quantity = parseQuantity(text)
    if (quantity !== undefined && quantitySign(quantity) <= 0) errors.push(invalidValue(`${at}.${name}`, text, 'must be positive'))
  }
  const utilization = numberOf(target, 'averageUtilization')
  if (utilization !== undefined && utilization < 1) {
    errors.push(invalidValue(`${at}.averageUtilization`, utilization, 'must be greater than 0'))
  }
}

/** The one number of the first version, which stands for a metric of the second. */
export function validateUtilization(errors: FieldError[], spec: Part): void {
  const utilization = numberOf(spec, 'targetCPUUtilizationPercentage')
  if (utilization === undefined || utilization >= 1) return
  errors.push(invalidValue('spec.metrics[0].resource.target.averageUtilization', utilization, 'must be greater than 0'))
}
