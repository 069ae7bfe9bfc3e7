import { map, ref, string } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { duplicateValue, forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext, TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { immutable, isGiven, numberOf } from './checks.ts'
import { failurePolicyRules } from './job-failure-policy.ts'
import { labelsOf, notSelected, selectorTakes, validatePodTemplate } from './pod-template.ts'

/** Label of a Job's Pods that holds the uid of the Job. */
export const jobUidLabel = 'controller-uid'
/** Label of a Job's Pods that holds the name of the Job. */
export const jobNameLabel = 'job-name'

/** Annotation that says that the Job's Pods are tracked by finalizers. */
export function jobTrackingAnnotation(names: Names): string {
  return subdomainLabel(names, 'batch', 'job-tracking')
}

const indexedParallelismMax = 100_000

/** A Job, or a template of one. */
export const jobRules: Readonly<Record<string, TypeRules>> = {
  'batch/v1.Job': [refuseOtherSelector, 'spec', validateOwnTemplate, refuseLateTracking, validateChange],
  'batch/v1.JobSpec': [
    ...['parallelism', 'completions', 'activeDeadlineSeconds', 'backoffLimit', 'ttlSecondsAfterFinished', 'completionMode'],
    validateIndexed,
    'podFailurePolicy',
    { passedOver: ['selector', 'template'] },
    validateTemplate,
  ],
  'batch/v1.JobStatus': ['active', 'succeeded', 'failed', 'ready', refuseCountedTwice],
  ...failurePolicyRules,
}

function validateOwnTemplate(errors: FieldError[], job: Part): void {
  const spec = partOf(job, 'spec')
  const selector = optionalPart(spec, 'selector')
  if (selector === undefined) errors.push(requiredValue('spec.selector'))
  else errors.push(...validateLabelSelector(selector, 'spec.selector'))
  const template = partOf(spec, 'template')
  if (selectorTakes(selector, labelsOf(template)) === false) errors.push(notSelected(template, 'spec.template.metadata.labels'))
}

/** Whether finalizers track the Pods of a Job is decided when the Job is made. */
function refuseLateTracking(errors: FieldError[], job: Part, _at: string, { live, names }: RuleContext): void {
  const annotation = jobTrackingAnnotation(names)
  const isTracked = (object: Part): boolean => isGiven(partOf(partOf(object, 'metadata'), 'annotations'), annotation)
  if (live !== undefined && isTracked(job) && !isTracked(live))
    errors.push(forbiddenValue(`metadata.annotations[${annotation}]`, 'cannot add this annotation'))
}

/** A selector that the server has made finds the Pods of this Job by its uid and no others. */
function refuseOtherSelector(errors: FieldError[], job: Part): void {
  const [metadata, spec] = [partOf(job, 'metadata'), partOf(job, 'spec')]
  const selector = optionalPart(spec, 'selector')
  if (selector === undefined || spec['manualSelector'] === true) return
  const [uid, name] = [textOf(metadata, 'uid'), textOf(metadata, 'name')]
  if (uid === '') errors.push(requiredValue('metadata.uid'))
  const labels = labelsOf(partOf(spec, 'template'))
  const expected: Part = { [jobUidLabel]: uid, [jobNameLabel]: name }
  for (const [key, value] of Object.entries(expected)) {
    const field = `spec.template.metadata.labels[${key}]`
    if (labels[key] === undefined) errors.push(requiredValue(field, `must be '${String(value)}'`))
    else if (labels[key] !== value) errors.push(invalidValue(field, goValue(map(string()), labels), `must be '${String(value)}'`))
  }
  if (selectorTakes(selector, expected) === false) {
    errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector), '`selector` not auto-generated'))
  }
}

function validateTemplate(errors: FieldError[], spec: Part, path: string, context: RuleContext): void {
  const policy = optionalPart(spec, 'podFailurePolicy')
  const template = partOf(spec, 'template')
  validatePodTemplate(errors, template, { path: `${path}.template`, context })
  const restart = textOf(partOf(template, 'spec'), 'restartPolicy')
  const at = `${path}.template.spec.restartPolicy`
  // A template says Always when its writer has said nothing.
  if (restart === 'Always' || restart === '') errors.push(requiredValue(at, 'valid values: "OnFailure", "Never"'))
  else if (restart !== 'OnFailure' && restart !== 'Never') errors.push(unsupportedValue(at, restart, ['OnFailure', 'Never']))
  else if (policy !== undefined && restart !== 'Never') {
    errors.push(invalidValue(at, restart, 'only "Never" is supported when podFailurePolicy is specified'))
  }
}

function validateIndexed(errors: FieldError[], spec: Part, path: string): void {
  if (textOf(spec, 'completionMode') !== 'Indexed') return
  if (!isGiven(spec, 'completions')) errors.push(requiredValue(`${path}.completions`, 'when completion mode is Indexed'))
  const parallelism = numberOf(spec, 'parallelism') ?? 0
  if (parallelism <= indexedParallelismMax) return
  const detail = `must be less than or equal to ${indexedParallelismMax} when completion mode is Indexed`
  errors.push(invalidValue(`${path}.parallelism`, parallelism, detail))
}

function validateChange(errors: FieldError[], object: Part, _at: string, { live: job }: RuleContext): void {
  if (job === undefined) return
  const [spec, live] = [partOf(object, 'spec'), partOf(job, 'spec')]
  for (const name of ['completions', 'selector']) immutable(errors, { part: spec, live, name, path: `spec.${name}` })
  const isWaiting = live['suspend'] === true && !isGiven(partOf(job, 'status'), 'startTime')
  const template = partOf(spec, 'template')
  const before = isWaiting ? withPlacementOf(template, partOf(live, 'template')) : partOf(live, 'template')
  if (!isSame(template, before))
    errors.push(invalidValue('spec.template', goValue(ref('core/v1.PodTemplateSpec'), template), 'field is immutable'))
  for (const name of ['completionMode', 'podFailurePolicy']) immutable(errors, { part: spec, live, name, path: `spec.${name}` })
}

/** A Job that has not begun may still be sent to other nodes: the live template with the new one's wishes. */
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
      affinity: affinity === undefined && isOfNodesOnly ? undefined : { ...others, nodeAffinity: affinity?.['nodeAffinity'] },
    },
  }
}

/** Pods that are still to be counted. */
function refuseCountedTwice(errors: FieldError[], status: Part): void {
  const seen = new Set<string>()
  for (const name of ['succeeded', 'failed']) {
    for (const [index, uid] of itemsOf<string>(partOf(status, 'uncountedTerminatedPods'), name).entries()) {
      const field = `status.uncountedTerminatedPods.${name}[${index}]`
      if (uid === '') errors.push(invalidValue(field, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicateValue(field, uid))
      seen.add(uid)
    }
  }
}
