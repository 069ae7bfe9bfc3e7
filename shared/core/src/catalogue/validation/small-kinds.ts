import { needed, noTag } from '../../description/fields.ts'
import { text } from '../../description/texts.ts'
import { ref } from '../../description/values.ts'
import { checkQualifiedName, type FieldError } from '../../meta/index.ts'
import { goValue } from '../../schema/go-value.ts'
import {
  duplicateValue,
  forbiddenValue,
  immutableValue,
  invalidFor,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf } from '../../validation/part.ts'
import { as, liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelMap } from '../../validation/selector.ts'
import { compareSemver, isSemver } from '../../validation/semver.ts'
import { validateResources } from './pod/resources.ts'

export const runtimeClassRules: Readonly<Record<string, TypeRules>> = {
  'node/v1.RuntimeClass': [
    { until: 36, step: 'handler' },
    { since: 37, step: as('handler', needed(text('label'), noTag, { declaredSince: 37 })) },
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

/** A Lease, and a candidate for it. */
export const leaseRules: Readonly<Record<string, TypeRules>> = {
  'coordination/v1.LeaseSpec': [validateCoordination],
  'coordination/v1beta1.LeaseCandidateSpec': [{ passedOver: ['leaseName', 'binaryVersion', 'strategy'] }, validateCandidate],
}

const notSemver = 'must be a valid semantic version'
const leaseStrategies = ['OldestEmulationVersion']

/** A strategy without a domain must be a known one. kube-apiserver reports faults at `strategy.strategy`. */
function faultsOfStrategy(strategy: string, at: string): FieldError[] {
  const place = `${at}.strategy.strategy`
  if (strategy.includes('/')) return invalidFor(place, strategy, checkQualifiedName(strategy))
  return leaseStrategies.includes(strategy) ? [] : [unsupportedValue(place, strategy, leaseStrategies)]
}

function validateCoordination(errors: FieldError[], spec: Part, at: string): void {
  const { strategy, preferredHolder } = spec
  const isGiven = strategy !== undefined && strategy !== null
  if (isGiven) errors.push(...faultsOfStrategy(String(strategy), at))
  if (preferredHolder !== undefined && preferredHolder !== null && preferredHolder !== '' && !isGiven)
    errors.push(forbiddenValue(`${at}.preferredHolder`, 'may only be specified if `strategy` is defined'))
}

/** kube-apiserver compares versions that cannot be read as 0.0.0. */
function validateCandidate(errors: FieldError[], spec: Part, at: string, context: RuleContext): void {
  const [leaseName, binary, emulation] = [textOf(spec, 'leaseName'), textOf(spec, 'binaryVersion'), textOf(spec, 'emulationVersion')]
  const strategy = textOf(spec, 'strategy')
  if (leaseName === '') errors.push(requiredValue(`${at}.leaseName`))
  if (emulation !== '' && !isSemver(emulation)) errors.push(invalidValue(`${at}.emulationVersion`, emulation, notSemver))
  if (binary === '') errors.push(requiredValue(`${at}.binaryVersion`))
  else if (!isSemver(binary)) errors.push(invalidValue(`${at}.binaryVersion`, binary, notSemver))
  if (binary !== '' && emulation !== '' && compareSemver(binary, emulation) < 0)
    errors.push(invalidValue(`${at}.binaryVersion`, binary, 'must be greater than or equal to `emulationVersion`'))
  if (strategy === '') errors.push(requiredValue(`${at}.strategy`))
  else if (strategy === 'OldestEmulationVersion' && compareSemver(emulation, '0.0.0') === 0)
    errors.push(requiredValue(`${at}.emulationVersion`, "must be specified when `strategy` is 'OldestEmulationVersion'"))
  if (strategy !== '') errors.push(...faultsOfStrategy(strategy, at))
  const before = context.live === undefined ? leaseName : textOf(liveAt(context, at), 'leaseName')
  errors.push(...immutableValue(`${at}.leaseName`, leaseName, before))
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
