import { string } from '../../description/texts.ts'
import { int32, list, map, ref } from '../../description/values.ts'
import { checkLabel, type FieldError } from '../../meta/index.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { goValue, type Node } from '../../schema/index.ts'
import {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  requiredValue,
  tooLongerValue,
  tooLongValue,
  tooManyValues,
  unsupportedValue,
} from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, repeatedPlaces, textOf, textsOf } from '../../validation/part.ts'
import { partAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { bytesOf, validateDomainPath } from '../../validation/texts.ts'
import { immutable, isGiven, notNegative, numberOf } from './checks.ts'
import { parseIndexes } from './job-indexes.ts'
import { hasTrue, validateJobStatus } from './job-status.ts'
import { labelsOf, notSelected, selectorTakes, validatePodTemplate } from './pod-template.ts'

/** The labels with a Job's uid and name on its Pods, the unprefixed labels first. */
export function jobLabels(names: Names, level: number): { readonly uid: readonly string[]; readonly name: readonly string[] } {
  const prefixed = (name: string) => (level < prefixedLabelsSince ? [] : [subdomainLabel(names, 'batch', name)])
  return { uid: ['controller-uid', ...prefixed('controller-uid')], name: ['job-name', ...prefixed('job-name')] }
}

/** The first level with prefixed labels on Pods of Jobs, and without the annotation for tracking by finalizers. */
const prefixedLabelsSince = 27

/** The annotation for Pods that are tracked by finalizers; undefined if the level has none. */
export function jobTrackingAnnotation(names: Names, level: number): string | undefined {
  return level < prefixedLabelsSince ? subdomainLabel(names, 'batch', 'job-tracking') : undefined
}

const indexedMax = 100_000
const highCompletionsMax = 10_000
const managedByBytesMax = 63

/** A Job, or a Job template. */
export const jobRules: Readonly<Record<string, TypeRules>> = {
  'batch/v1.Job': [validateGenerated, 'spec', validateOwnTemplate, refuseLateTracking, validateChange, validateHostName],
  'batch/v1.JobSpec': [
    ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished'],
    ...['backoffLimitPerIndex', 'maxFailedIndexes'],
    requireIndexLimit,
    validateManager,
    'completionMode',
    validateIndexed,
    'podFailurePolicy',
    validateSuccessPolicy,
    validateReplacement,
    { passedOver: ['selector', 'template', 'successPolicy', 'podReplacementPolicy'] },
    validateTemplate,
  ],
  'batch/v1.JobStatus': ['active', 'succeeded', 'failed', 'ready', 'terminating', validateJobStatus],
  // The first rule of a failure policy that matches a failed Pod decides.
  'batch/v1.PodFailurePolicyRule': ['action', validateIndexLimit, 'onExitCodes', 'onPodConditions', validateRequirements],
  'batch/v1.PodFailurePolicyOnExitCodesRequirement': ['operator', validateContainer, validateExitCodes],
  'batch/v1.PodFailurePolicyOnPodConditionsPattern': ['type', 'status'],
}

function validateOwnTemplate(errors: FieldError[], job: Part, _at: string, context: RuleContext): void {
  const spec = partOf(job, 'spec')
  const selector = optionalPart(spec, 'selector')
  if (selector === undefined) errors.push(requiredValue('spec.selector'))
  else errors.push(...validateLabelSelector(selector, 'spec.selector'))
  const template = partOf(spec, 'template')
  if (selectorTakes(selector, labelsOf(template)) === false) errors.push(notSelected(template, 'spec.template', context))
}

/** The tracking annotation can only be set when a Job is created. */
function refuseLateTracking(errors: FieldError[], job: Part, _at: string, { live, names, level }: RuleContext): void {
  const annotation = jobTrackingAnnotation(names, level)
  if (live === undefined || annotation === undefined) return
  const isTracked = (object: Part): boolean => isGiven(partOf(partOf(object, 'metadata'), 'annotations'), annotation)
  if (isTracked(job) && !isTracked(live)) errors.push(forbiddenValue(`metadata.annotations[${annotation}]`, 'cannot add this annotation'))
}

/** The first level at which kube-apiserver is known to check generated labels and selectors only in new Jobs, since they are immutable. */
const generatedOnceSince = 34

/** A selector that the server has generated must match exactly the Pods of this Job, by its uid. */
function validateGenerated(errors: FieldError[], job: Part, _at: string, { live, names, level }: RuleContext): void {
  if (live !== undefined && level >= generatedOnceSince) return
  const spec = partOf(job, 'spec')
  const selector = optionalPart(spec, 'selector')
  if (selector === undefined || spec['manualSelector'] === true) return
  const labels = jobLabels(names, level)
  const metadata = partOf(job, 'metadata')
  const [uid, name] = [textOf(metadata, 'uid'), textOf(metadata, 'name')]
  if (uid === '') errors.push(requiredValue('metadata.uid'))
  const given = labelsOf(partOf(spec, 'template'))
  // A Job that was created without the prefixed labels stays without them.
  const before = live === undefined ? undefined : labelsOf(partOf(partOf(live, 'spec'), 'template'))
  const isOld = before !== undefined && [...labels.uid, ...labels.name].some((key) => before[key] === undefined)
  const expected: Record<string, string> = {}
  for (let index = 0; index < (isOld ? 1 : labels.uid.length); index++) {
    for (const [key, value] of [
      [labels.uid[index], uid],
      [labels.name[index], name],
    ] as const)
      if (key !== undefined) expected[key] = value
  }
  for (const [key, value] of Object.entries(expected)) {
    const field = `spec.template.metadata.labels[${key}]`
    if (given[key] === undefined) errors.push(requiredValue(field, `must be '${value}'`))
    else if (given[key] !== value) errors.push(invalidValue(field, goValue(map(string()), given), `must be '${value}'`))
  }
  if (selectorTakes(selector, expected) === false) {
    errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector), '`selector` not auto-generated'))
  }
}

/** A Pod of an Indexed Job has the Job's name and an index as its host name. */
function validateHostName(errors: FieldError[], job: Part, _at: string, { level }: RuleContext): void {
  const spec = partOf(job, 'spec')
  const completions = Number(numberOf(spec, 'completions') ?? 0)
  if (level < prefixedLabelsSince || textOf(spec, 'completionMode') !== 'Indexed' || completions <= 0) return
  const name = textOf(partOf(job, 'metadata'), 'name')
  const host = `${name}-${completions - 1}`
  if (checkLabel(host).length === 0) return
  errors.push(invalidValue('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`))
}

function validateTemplate(errors: FieldError[], spec: Part, path: string, context: RuleContext): void {
  const policy = optionalPart(spec, 'podFailurePolicy')
  const template = partOf(spec, 'template')
  validatePodTemplate(errors, template, { path: `${path}.template`, context })
  const restart = textOf(partOf(template, 'spec'), 'restartPolicy')
  const at = `${path}.template.spec.restartPolicy`
  // `Always` is the default of a template, so it means that the policy is not set.
  if (restart === 'Always' || restart === '') errors.push(requiredValue(at, 'valid values: "OnFailure", "Never"'))
  else if (restart !== 'OnFailure' && restart !== 'Never') errors.push(unsupportedValue(at, restart, ['OnFailure', 'Never']))
  else if (policy !== undefined && restart !== 'Never') {
    errors.push(invalidValue(at, restart, 'only "Never" is supported when podFailurePolicy is specified'))
  }
}

function requireIndexLimit(errors: FieldError[], spec: Part, path: string): void {
  if (isGiven(spec, 'maxFailedIndexes') && !isGiven(spec, 'backoffLimitPerIndex'))
    errors.push(requiredValue(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
}

function validateManager(errors: FieldError[], spec: Part, path: string): void {
  if (!isGiven(spec, 'managedBy')) return
  const name = textOf(spec, 'managedBy')
  errors.push(...validateDomainPath(name, `${path}.managedBy`))
  if (bytesOf(name) > managedByBytesMax) errors.push(tooLongerValue(`${path}.managedBy`, managedByBytesMax))
}

function validateIndexed(errors: FieldError[], spec: Part, path: string): void {
  const mode = textOf(spec, 'completionMode')
  if (mode === 'NonIndexed' || !isGiven(spec, 'completionMode')) refuseIndexLimits(errors, spec, path)
  if (mode !== 'Indexed') return
  const completions = numberOf(spec, 'completions')
  if (completions === undefined) errors.push(requiredValue(`${path}.completions`, 'when completion mode is Indexed'))
  const notAbove = (name: string, max: number | bigint, detail: string): void => {
    const value = numberOf(spec, name)
    if (value !== undefined && value > max) errors.push(invalidValue(`${path}.${name}`, value, `must be less than or equal to ${detail}`))
  }
  notAbove('parallelism', indexedMax, `${indexedMax} when completion mode is Indexed`)
  if (completions !== undefined) notAbove('maxFailedIndexes', completions, 'completions')
  notAbove('maxFailedIndexes', indexedMax, String(indexedMax))
  if (completions === undefined || completions <= indexedMax || !isGiven(spec, 'backoffLimitPerIndex')) return
  if (!isGiven(spec, 'maxFailedIndexes'))
    errors.push(requiredValue(`${path}.maxFailedIndexes`, `must be specified when completions is above ${indexedMax}`))
  const detail = `${highCompletionsMax} when completions are above ${indexedMax} and used with backoff limit per index`
  for (const name of ['parallelism', 'maxFailedIndexes']) notAbove(name, highCompletionsMax, detail)
}

function refuseIndexLimits(errors: FieldError[], spec: Part, path: string): void {
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = numberOf(spec, name)
    if (value !== undefined) errors.push(invalidValue(`${path}.${name}`, value, 'requires indexed completion mode'))
  }
}

/** With a pod failure policy, only failed Pods can be replaced. */
function validateReplacement(errors: FieldError[], spec: Part, path: string): void {
  const policy = spec['podReplacementPolicy']
  if (typeof policy !== 'string') return
  const allowed = isGiven(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  if (!allowed.includes(policy)) errors.push(unsupportedValue(`${path}.podReplacementPolicy`, policy, allowed))
}

/** Immutable fields of the spec after the template, with their types. */
const immutableFields: readonly (readonly [name: string, type: Node])[] = [
  ['completionMode', string()],
  ['podFailurePolicy', ref('batch/v1.PodFailurePolicy')],
  ['backoffLimitPerIndex', int32()],
  ['managedBy', string()],
  ['successPolicy', ref('batch/v1.SuccessPolicy')],
]

function validateChange(errors: FieldError[], object: Part, _at: string, context: RuleContext): void {
  const { live: job, level } = context
  if (job === undefined) return
  const [spec, live] = [partOf(object, 'spec'), partOf(job, 'spec')]
  validateCompletions(errors, spec, live, level)
  immutable(errors, { part: spec, live, name: 'selector', path: 'spec.selector', type: ref('meta/v1.LabelSelector') })
  validateTemplateChange(errors, partOf(spec, 'template'), job, context)
  for (const [name, type] of immutableFields) immutable(errors, { part: spec, live, name, path: `spec.${name}`, type })
}

/** The first level at which the completions of an Indexed Job may change, together with its parallelism. */
const elasticSince = 27

function validateCompletions(errors: FieldError[], spec: Part, live: Part, level: number): void {
  if (textOf(spec, 'completionMode') !== 'Indexed' || level < elasticSince) {
    immutable(errors, { part: spec, live, name: 'completions', path: 'spec.completions', type: int32() })
    return
  }
  const completions = numberOf(spec, 'completions')
  if (completions === undefined || completions === numberOf(live, 'completions') || completions === numberOf(spec, 'parallelism')) return
  errors.push(invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism'))
}

/** A suspended Job that has not started, or whose Pods are gone, may change the scheduling and the resources of its template. */
function validateTemplateChange(errors: FieldError[], template: Part, job: Part, { isGateOn }: RuleContext): void {
  const live = partOf(partOf(job, 'spec'), 'template')
  const status = partOf(job, 'status')
  const isSuspended = partOf(job, 'spec')['suspend'] === true
  const hasNotBegun = isSuspended && !isGiven(status, 'startTime')
  const isIdle = (hasNotBegun || (isSuspended && hasTrue(status, 'Suspended'))) && Number(numberOf(status, 'active') ?? 0) === 0
  const mayMove = isGateOn('MutableSchedulingDirectivesForSuspendedJobs') ? isIdle : hasNotBegun
  const before = mayMove ? withPlacementOf(template, live) : live
  if (isIdle && isGateOn('MutablePodResourcesForSuspendedJobs')) {
    const [spec, specBefore] = [partOf(template, 'spec'), withResourcesOf(partOf(template, 'spec'), partOf(before, 'spec'))]
    if (!isSame(spec, specBefore))
      errors.push(invalidValue('spec.template.spec', goValue(ref('core/v1.PodSpec'), spec), 'field is immutable'))
  } else if (!isSame(template, before)) {
    errors.push(invalidValue('spec.template', goValue(ref('core/v1.PodTemplateSpec'), template), 'field is immutable'))
  }
}

/** The live template with the scheduling fields of the new one. */
function withPlacementOf(template: Part, live: Part): Part {
  const [metadata, spec] = [partOf(template, 'metadata'), partOf(template, 'spec')]
  const affinity = optionalPart(spec, 'affinity')
  const liveSpec = partOf(live, 'spec')
  const { nodeAffinity: _before, ...others } = partOf(liveSpec, 'affinity')
  const isOfNodesOnly = Object.keys(others).length === 0
  return {
    ...live,
    metadata: { ...partOf(live, 'metadata'), labels: metadata['labels'], annotations: metadata['annotations'] },
    spec: {
      ...liveSpec,
      nodeSelector: spec['nodeSelector'],
      tolerations: spec['tolerations'],
      schedulingGates: spec['schedulingGates'],
      affinity: affinity === undefined && isOfNodesOnly ? undefined : { ...others, nodeAffinity: affinity?.['nodeAffinity'] },
    },
  }
}

/** The live Pod spec with the new resources of containers at the same index. */
function withResourcesOf(spec: Part, live: Part): Part {
  const changed: Record<string, unknown> = { ...live }
  for (const list of ['containers', 'initContainers']) {
    const [after, before] = [itemsOf(spec, list), itemsOf(live, list)]
    if (before.length === 0 || after.length !== before.length) continue
    changed[list] = before.map((container, index) => {
      const other = after[index]
      return other !== undefined && textOf(other, 'name') === textOf(container, 'name')
        ? { ...container, resources: other['resources'] }
        : container
    })
  }
  return changed
}

const exitCodesMax = 255

/** The action FailIndex requires `backoffLimitPerIndex`. */
function validateIndexLimit(errors: FieldError[], rule: Part, at: string, { object }: RuleContext): void {
  const action = textOf(rule, 'action')
  if (action !== 'FailIndex' || isGiven(partAt(object, at.slice(0, at.lastIndexOf('.podFailurePolicy'))), 'backoffLimitPerIndex')) return
  errors.push(invalidValue(`${at}.action`, action, 'requires the backoffLimitPerIndex to be set'))
}

/** No single value is invalid, so the message shows no value. */
function validateRequirements(errors: FieldError[], rule: Part, field: string): void {
  const refuse = (detail: string): void => void errors.push({ reason: 'FieldValueInvalid', field, message: `Invalid value: ${detail}` })
  const [hasCodes, hasPatterns] = [isGiven(rule, 'onExitCodes'), itemsOf(rule, 'onPodConditions').length > 0]
  if (hasCodes && hasPatterns) refuse('specifying both OnExitCodes and OnPodConditions is not supported')
  if (!hasCodes && !hasPatterns) refuse('specifying one of OnExitCodes and OnPodConditions is required')
}

function validateContainer(errors: FieldError[], codes: Part, at: string, { object }: RuleContext): void {
  const name = codes['containerName']
  if (typeof name !== 'string') return
  const podSpec = partAt(object, `${at.slice(0, at.lastIndexOf('.podFailurePolicy'))}.template.spec`)
  if (textsOf([...itemsOf(podSpec, 'containers'), ...itemsOf(podSpec, 'initContainers')], 'name').has(name)) return
  errors.push(invalidValue(`${at}.containerName`, name, 'must be one of the container or initContainer names in the pod template'))
}

function validateExitCodes(errors: FieldError[], codes: Part, at: string): void {
  const values = itemsOf<number>(codes, 'values')
  if (values.length === 0)
    errors.push(invalidValue(`${at}.values`, goValue(list(int32()), codes['values']), 'at least one value is required'))
  if (values.length > exitCodesMax) errors.push(tooManyValues(`${at}.values`, values.length, exitCodesMax))
  const repeated = repeatedPlaces(values)
  for (const [index, value] of values.entries()) {
    if (value === 0 && textOf(codes, 'operator') === 'In') {
      errors.push(invalidValue(`${at}.values[${index}]`, 0, 'must not be 0 for the In operator'))
    }
    if (repeated.has(index)) errors.push(duplicateValue(`${at}.values[${index}]`, value))
  }
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value)
  if (!isOrdered) errors.push(invalidValue(`${at}.values`, goValue(list(int32()), codes['values']), 'must be ordered'))
}

const rulesMax = 20
const indexesBytesMax = 64 * 1024

/** The rules by which an Indexed Job can succeed before all its indexes do. */
function validateSuccessPolicy(errors: FieldError[], spec: Part, at: string): void {
  const path = `${at}.successPolicy`
  const policy = optionalPart(spec, 'successPolicy')
  if (policy === undefined) return
  if (textOf(spec, 'completionMode') !== 'Indexed') {
    errors.push(invalidValue(path, goValue(ref('batch/v1.SuccessPolicy'), policy), 'requires indexed completion mode'))
    return
  }
  const rules = itemsOf(policy, 'rules')
  const field = `${path}.rules`
  if (rules.length === 0) errors.push(requiredValue(field, 'at least one rules must be specified when the successPolicy is specified'))
  if (rules.length > rulesMax) errors.push(tooManyValues(field, rules.length, rulesMax))
  const completions = Number(numberOf(spec, 'completions') ?? 0)
  for (const [index, rule] of rules.entries()) validateRule(errors, rule, completions, `${field}[${index}]`)
}

function validateRule(errors: FieldError[], rule: Part, completions: number, at: string): void {
  const hasIndexes = isGiven(rule, 'succeededIndexes')
  const count = numberOf(rule, 'succeededCount')
  if (count === undefined && !hasIndexes)
    errors.push(requiredValue(at, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total = 0
  if (hasIndexes) {
    const text = textOf(rule, 'succeededIndexes')
    const field = `${at}.succeededIndexes`
    if (bytesOf(text) > indexesBytesMax) errors.push(tooLongValue(field, indexesBytesMax))
    const reading = parseIndexes(text, completions)
    if (reading.kind === 'malformed') errors.push(invalidValue(field, text, `error parsing succeededIndexes: ${reading.problem}`))
    else total = reading.intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0)
  }
  if (count === undefined) return
  notNegative(errors, rule, ['succeededCount'], at)
  const notAbove = (max: number, what: string): void => {
    const detail = `must be less than or equal to ${max} (the number of ${what})`
    if (count > max) errors.push(invalidValue(`${at}.succeededCount`, count, detail))
  }
  notAbove(completions, 'specified completions')
  if (hasIndexes) notAbove(total, 'indexes in the specified succeededIndexes field')
}
