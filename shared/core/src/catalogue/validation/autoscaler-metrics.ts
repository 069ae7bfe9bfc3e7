import type { FieldError } from '../../meta/status.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { isGiven, numberOf } from './checks.ts'
import { containerResources, validateResourceName } from './pod/resources.ts'

/** The kinds of metrics by their fields, in the order of validation. */
const sources: ReadonlyMap<string, string> = new Map([
  ['object', 'autoscaling/v2.ObjectMetricSource'],
  ['external', 'autoscaling/v2.ExternalMetricSource'],
  ['pods', 'autoscaling/v2.PodsMetricSource'],
  ['resource', 'autoscaling/v2.ResourceMetricSource'],
  ['containerResource', 'autoscaling/v2.ContainerResourceMetricSource'],
])

const types = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const targetTypes = ['Utilization', 'Value', 'AverageValue']

/** The metrics of an autoscaler with their targets. */
export const metricRules: Readonly<Record<string, TypeRules>> = {
  'autoscaling/v2.MetricSpec': ['type', validateType, { passedOver: [...sources.keys()] }, validateSource],
  'autoscaling/v2.MetricIdentifier': ['name', { passedOver: ['selector'] }],
  'autoscaling/v2.MetricTarget': ['type', validateTargetType, 'value', 'averageValue', 'averageUtilization'],
  'autoscaling/v2.ObjectMetricSource': ['describedObject', 'metric', 'target', requireValue],
  'autoscaling/v2.ExternalMetricSource': ['metric', 'target', requireOneValue],
  'autoscaling/v2.PodsMetricSource': ['metric', 'target', requireAverage],
  'autoscaling/v2.ResourceMetricSource': ['name', 'target', requireUsage],
  'autoscaling/v2.ContainerResourceMetricSource': ['name', validateName, 'container', 'target', requireUsage],
}

function validateType(errors: FieldError[], metric: Part, at: string): void {
  const type = textOf(metric, 'type')
  if (!types.includes(type)) errors.push(unsupportedValue(`${at}.type`, type, types))
}

function validateName(errors: FieldError[], source: Part, at: string): void {
  const name = textOf(source, 'name')
  if (name !== '' && !containerResources.has(name)) validateResourceName(errors, name, `${at}.name`)
}

/** With zero replicas, only metrics from outside the Pods have values. */
export function requireOuterMetric(errors: FieldError[], spec: Part): void {
  const hasOuter = itemsOf(spec, 'metrics').some(({ type }) => type === 'Object' || type === 'External')
  if (numberOf(spec, 'minReplicas') !== 0 || hasOuter) return
  errors.push(forbiddenValue('spec.metrics', 'must specify at least one Object or External metric to support scaling to zero replicas'))
}

function validateSource(errors: FieldError[], metric: Part, at: string, context: RuleContext): void {
  const { isGateOn, rules } = context
  const type = textOf(metric, 'type')
  const present = [...sources.keys()].filter((name) => isGiven(metric, name))
  const first = present[0]
  if (first !== undefined) rules.of(sources.get(first) ?? '')(errors, partOf(metric, first), `${at}.${first}`, context)
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

function givenIn(source: Part, ...names: readonly string[]): readonly string[] {
  return names.filter((name) => isGiven(partOf(source, 'target'), name))
}

function requireValue(errors: FieldError[], source: Part, at: string): void {
  if (givenIn(source, 'value', 'averageValue').length > 0) return
  errors.push(requiredValue(`${at}.target.averageValue`, 'must set either a target value or averageValue'))
}

function requireOneValue(errors: FieldError[], source: Part, at: string): void {
  const given = givenIn(source, 'value', 'averageValue')
  if (given.length === 0) {
    errors.push(requiredValue(`${at}.target.averageValue`, 'must set either a target value for metric or a per-pod target'))
  }
  if (given.length === 2) {
    errors.push(forbiddenValue(`${at}.target.value`, 'may not set both a target value for metric and a per-pod target'))
  }
}

function requireAverage(errors: FieldError[], source: Part, at: string): void {
  if (givenIn(source, 'averageValue').length > 0) return
  errors.push(requiredValue(`${at}.target.averageValue`, 'must specify a positive target averageValue'))
}

function requireUsage(errors: FieldError[], source: Part, at: string): void {
  const given = givenIn(source, 'averageUtilization', 'averageValue')
  if (given.length === 0) {
    errors.push(requiredValue(`${at}.target.averageUtilization`, 'must set either a target raw value or a target utilization'))
  }
  if (given.length === 2) {
    errors.push(forbiddenValue(`${at}.target.averageValue`, 'may not set both a target raw value and a target utilization'))
  }
}

function validateTargetType(errors: FieldError[], target: Part, at: string): void {
  const type = textOf(target, 'type')
  if (!targetTypes.includes(type)) errors.push(invalidValue(`${at}.type`, type, 'must be either Utilization, Value, or AverageValue'))
}

/** Validates the target utilization of v1. An error names the equivalent metric of v2. */
export function validateUtilization(errors: FieldError[], spec: Part): void {
  const utilization = numberOf(spec, 'targetCPUUtilizationPercentage')
  if (utilization === undefined || utilization >= 1) return
  errors.push(invalidValue('spec.metrics[0].resource.target.averageUtilization', utilization, 'must be greater than 0'))
}
