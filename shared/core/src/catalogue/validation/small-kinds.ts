import { needed, ref, text } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, immutableValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { as, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelMap } from '../../validation/selector.ts'
import { validateResources } from './pod/resources.ts'

/** A RuntimeClass. */
export const runtimeClassRules: Readonly<Record<string, TypeRules>> = {
  'node/v1.RuntimeClass': [
    { until: 36, step: 'handler' },
    { since: 37, step: as('handler', needed(text('label'), { declaredSince: 37 })) },
    validateOverhead,
    { passedOver: ['scheduling'] },
    validateScheduling,
  ],
}

function validateOverhead(errors: FieldError[], runtimeClass: Part): void {
  const overhead = optionalPart(runtimeClass, 'overhead')
  if (overhead !== undefined) validateResources(errors, { limits: partOf(overhead, 'podFixed') }, 'overhead')
}

const tolerationsNamedSince = 37

function validateScheduling(errors: FieldError[], runtimeClass: Part, _at: string, context: RuleContext): void {
  const scheduling = partOf(runtimeClass, 'scheduling')
  errors.push(...validateLabelMap(scheduling, 'nodeSelector', 'scheduling.nodeSelector'))
  const tolerations = itemsOf(scheduling, 'tolerations')
  // Until 1.36, kube-apiserver used this path.
  const path = context.level < tolerationsNamedSince ? 'scheduling.tolerations.tolerations' : 'scheduling.tolerations'
  const validateToleration = context.rules.of('core/v1.Toleration')
  for (const [index, toleration] of tolerations.entries()) {
    validateToleration(errors, toleration, `${path}[${index}]`, context)
  }
  // Tolerations that differ only in their time count as duplicates.
  const keys = tolerations.map(({ tolerationSeconds: _seconds, ...key }) => key)
  for (const index of repeatedPlaces(keys))
    errors.push(duplicateValue(`scheduling.tolerations[${index}]`, goValue(ref('core/v1.Toleration'), tolerations[index])))
}

/** A Lease. */
export const leaseRules: Readonly<Record<string, TypeRules>> = { 'coordination/v1.LeaseSpec': [validateCoordination] }

const leaseStrategies = ['OldestEmulationVersion']

/** A strategy without a domain must be a known one. kube-apiserver reports it at `strategy.strategy`. */
function validateCoordination(errors: FieldError[], spec: Part, at: string): void {
  const { strategy, preferredHolder } = spec
  const isGiven = strategy !== undefined && strategy !== null
  if (isGiven && !String(strategy).includes('/') && !leaseStrategies.includes(String(strategy)))
    errors.push(unsupportedValue(`${at}.strategy.strategy`, String(strategy), leaseStrategies))
  if (preferredHolder !== undefined && preferredHolder !== null && preferredHolder !== '' && !isGiven)
    errors.push(forbiddenValue(`${at}.preferredHolder`, 'may only be specified if `strategy` is defined'))
}

const systemPriorities: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
}
const priorityMax = 1_000_000_000
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** The rules of a PriorityClass. Its value is immutable because Pods have copied it. */
export function validatePriorityClass(priorityClass: Part, live: Part | undefined): FieldError[] {
  const value = Number(priorityClass['value'] ?? 0)
  const policy = priorityClass['preemptionPolicy']
  if (live === undefined) return [...validatePriorityValue(priorityClass, value), ...validatePolicy(policy)]
  const errors = value === Number(live['value'] ?? 0) ? [] : [forbiddenValue('value', 'may not be changed in an update.')]
  return [...errors, ...immutableValue('preemptionPolicy', policy, live['preemptionPolicy'])]
}

function validatePolicy(policy: unknown): FieldError[] {
  if (policy === '') return [requiredValue('preemptionPolicy')]
  if (typeof policy !== 'string' || preemptionPolicies.includes(policy)) return []
  return [unsupportedValue('preemptionPolicy', policy, preemptionPolicies)]
}

function validatePriorityValue(priorityClass: Part, value: number): FieldError[] {
  const name = textOf(partOf(priorityClass, 'metadata'), 'name')
  if (!name.startsWith('system-')) {
    return value > priorityMax ? [forbiddenValue('value', `maximum allowed value of a user defined priority is ${priorityMax}`)] : []
  }
  const problem = systemProblem(name, value, priorityClass['globalDefault'] === true)
  if (problem === undefined) return []
  return [forbiddenValue('metadata.name', `priority class names with 'system-' prefix are reserved for system use only. error: ${problem}`)]
}

function systemProblem(name: string, value: number, isDefault: boolean): string | undefined {
  const expected = Object.hasOwn(systemPriorities, name) ? systemPriorities[name] : undefined
  if (expected === undefined) return `${name} is not a known system priority class`
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`
  return isDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}
