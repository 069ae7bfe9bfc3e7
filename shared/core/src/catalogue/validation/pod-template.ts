import { string } from '../../description/texts.ts'
import { map, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../../selectors/labels.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { validateAnnotations, validateLabels } from '../../validation/object-meta.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { type PartRule, partAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { isGiven, numberOf } from './checks.ts'
import { validatePodAnnotations, validateProfilesMatch } from './pod/pod-annotations.ts'
import { validateSpec } from './pod/pod-spec.ts'

/** Requirements that a template's owner adds. */
export interface TemplateRules {
  /** The kind of the owner, for messages. */
  readonly owner: string
  readonly path: string
  /** The number of Pods; undefined for one Pod per node. */
  readonly replicas?: number | bigint
  readonly context: RuleContext
}

/** A PodTemplate object. */
export const podTemplateRules: Readonly<Record<string, TypeRules>> = {
  'core/v1.PodTemplate': [
    { passedOver: ['template'] },
    (errors, object, path, context) => validatePodTemplate(errors, partOf(object, 'template'), { path: `${path}template`, context }),
  ],
}

/** Validates the metadata and the spec of a Pod template. */
export function validatePodTemplate(
  errors: FieldError[],
  template: Part,
  { path, context }: Pick<TemplateRules, 'path' | 'context'>,
): void {
  validateTemplateMetadata(errors, template, { path, context })
  const spec = partOf(template, 'spec')
  validateSpec(errors, spec, `${path}.spec`, context)
  validateProfilesMatch(errors, { annotations: partOf(partOf(template, 'metadata'), 'annotations'), spec, path: `${path}.spec` }, context)
  if (itemsOf(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenValue(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  }
}

/** Validates the labels and annotations of a template. */
export function validateTemplateMetadata(
  errors: FieldError[],
  template: Part,
  { path, context }: Pick<TemplateRules, 'path' | 'context'>,
): void {
  const metadata = partOf(template, 'metadata')
  const labels = optionalPart(metadata, 'labels')
  if (labels !== undefined) validateLabels(errors, labels as Record<string, string>, `${path}.labels`)
  const annotations = optionalPart(metadata, 'annotations')
  if (annotations === undefined) return
  validateAnnotations(errors, annotations as Record<string, string>, `${path}.annotations`)
  validatePodAnnotations(errors, { annotations, spec: partOf(template, 'spec'), path: `${path}.annotations` }, context)
}

/** The first level that does not check that several Pods share a writable disk. */
const disksTakenSince = 31

/** Validates a template of Pods that run indefinitely, as all owners except Jobs require. */
export function validateLastingTemplate(errors: FieldError[], template: Part, rules: TemplateRules): void {
  validatePodTemplate(errors, template, rules)
  const { path, replicas, context } = rules
  const volumes = itemsOf(partOf(template, 'spec'), 'volumes')
  if (context.level < disksTakenSince && (replicas === undefined || replicas > 1))
    refuseWritableDisks(errors, volumes, `${path}.spec.volumes`)
  refuseEndingPods(errors, template, rules)
}

/** Pods that run indefinitely must be restarted, and have no deadline. */
export function refuseEndingPods(errors: FieldError[], template: Part, { owner, path }: Pick<TemplateRules, 'owner' | 'path'>): void {
  const spec = partOf(template, 'spec')
  const policy = textOf(spec, 'restartPolicy')
  if (policy !== 'Always') errors.push(unsupportedValue(`${path}.spec.restartPolicy`, policy, ['Always']))
  if (isGiven(spec, 'activeDeadlineSeconds')) {
    errors.push(forbiddenValue(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`))
  }
}

/** Validates an owner's selector and template, which must match. `what` is the owner in messages. */
export function selectedTemplate({ owner, what }: { readonly owner: string; readonly what: string }): PartRule {
  return (errors, spec, at, context) => {
    const selector = optionalPart(spec, 'selector')
    validateOwnSelector(errors, selector, what)
    const template = partOf(spec, 'template')
    const isTaken = selectorTakes(selector, labelsOf(template))
    if (isTaken === undefined) {
      errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector ?? {}), 'invalid label selector'))
      return
    }
    const path = `${at}.template`
    if (!isTaken) errors.push(notSelected(template, path, context))
    validateLastingTemplate(errors, template, { owner, path, replicas: replicasOf(spec), context })
  }
}

/** Validates an owner's selector, which must match only its Pods. */
export function validateOwnSelector(errors: FieldError[], selector: Part | undefined, what: string): void {
  if (selector === undefined) {
    errors.push(requiredValue('spec.selector'))
    return
  }
  errors.push(...validateLabelSelector(selector, 'spec.selector'))
  refuseEmptySelector(errors, selector, what)
}

/** Refuses an empty selector, which would match all Pods. */
export function refuseEmptySelector(errors: FieldError[], selector: Part, what: string): void {
  if (Object.keys(partOf(selector, 'matchLabels')).length > 0 || itemsOf(selector, 'matchExpressions').length > 0) return
  errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector), `empty selector is invalid for ${what}`))
}

/** The error of a template whose labels do not match the selector. Empty labels are absent from the decoded object, and printed from the body. */
export function notSelected(template: Part, at: string, { body }: Pick<RuleContext, 'body'>): FieldError {
  const labels = partOf(template, 'metadata')['labels'] ?? partAt(partOf({ body }, 'body'), `${at}.metadata`)['labels']
  return invalidValue(`${at}.metadata.labels`, goValue(map(string()), labels), '`selector` does not match template `labels`')
}

export function labelsOf(template: Part): Part {
  return partOf(partOf(template, 'metadata'), 'labels')
}

/** True if a selector matches an object with these labels; undefined if the selector is invalid. An absent selector matches nothing. */
export function selectorTakes(selector: Part | undefined, labels: Part): boolean | undefined {
  if (selector === undefined) return false
  const reading = toLabelRequirements(selector as LabelSelector)
  return reading.kind === 'selector' ? matchesLabels(reading.requirements, labels as Record<string, string>) : undefined
}

/** A disk with a single writer cannot be mounted by several Pods. */
function refuseWritableDisks(errors: FieldError[], volumes: readonly Part[], path: string): void {
  for (const [index, volume] of volumes.entries()) {
    const disk = optionalPart(volume, 'gcePersistentDisk')
    if (disk === undefined || disk['readOnly'] === true) continue
    const detail = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    errors.push(invalidValue(`${path}[${index}].gcePersistentDisk.readOnly`, false, detail))
  }
}

/** The number of Pods that an owner wants. */
export function replicasOf(spec: Part): number | bigint {
  return numberOf(spec, 'replicas') ?? 0
}
