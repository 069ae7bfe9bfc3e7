import type { FieldError } from '../../meta/status.ts'
import { validateAnnotations, validateLabels } from '../../meta/validate-object-meta.ts'
import { type LabelSelector, matchesLabels, toLabelRequirements } from '../../selectors/labels.ts'
import { isGiven, numberOf } from './checks.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from './field-errors.ts'
import { goLabelSelector, goLabels, invalidGoValue } from './go-values.ts'
import { itemsOf, optionalPart, type Part, partOf, textOf } from './part.ts'
import { validatePodSpec } from './pod/pod-spec.ts'
import { validateLabelSelector } from './selector.ts'

/** What decides whether a template may stand in its owner. */
export interface TemplateRules {
  /** The kind of the owner, as messages call it. */
  readonly owner: string
  readonly path: string
  /** How many Pods are made of it; without a number, one on each node. */
  readonly replicas?: number | bigint
  /** Volumes that are there beside those of the template. */
  readonly claims?: readonly Part[]
}

/** A template that is an object of its own. */
export function validatePodTemplateObject(object: Part): FieldError[] {
  const errors: FieldError[] = []
  validatePodTemplate(errors, partOf(object, 'template'), 'template')
  return errors
}

/** A Pod's template by itself: what its metadata and its spec say. */
export function validatePodTemplate(errors: FieldError[], template: Part, path: string, claims: readonly Part[] = []): void {
  const metadata = partOf(template, 'metadata')
  const labels = optionalPart(metadata, 'labels')
  if (labels !== undefined) validateLabels(errors, labels as Record<string, string>, `${path}.labels`)
  const annotations = optionalPart(metadata, 'annotations')
  if (annotations !== undefined) validateAnnotations(errors, annotations as Record<string, string>, `${path}.annotations`)
  const spec = partOf(template, 'spec')
  validatePodSpec(errors, spec, `${path}.spec`, { claims })
  if (itemsOf(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenValue(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  }
}

/** A template of Pods that run for good, as all owners but Jobs have. */
export function validateLastingTemplate(errors: FieldError[], template: Part, { owner, path, replicas, claims }: TemplateRules): void {
  validatePodTemplate(errors, template, path, claims)
  const spec = partOf(template, 'spec')
  if (replicas === undefined || replicas > 1) refuseWritableDisks(errors, itemsOf(spec, 'volumes'), `${path}.spec.volumes`)
  const policy = textOf(spec, 'restartPolicy')
  if (policy !== 'Always') errors.push(unsupportedValue(`${path}.spec.restartPolicy`, policy, ['Always']))
  if (isGiven(spec, 'activeDeadlineSeconds')) {
    errors.push(forbiddenValue(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`))
  }
}

/** The selector of an owner and its template, which have to belong together. Messages call the owner `what`. */
export function validateSelectedTemplate(errors: FieldError[], spec: Part, rules: TemplateRules, what: string): void {
  const selector = optionalPart(spec, 'selector')
  if (selector === undefined) errors.push(requiredValue('spec.selector'))
  else {
    errors.push(...validateLabelSelector(selector, 'spec.selector'))
    if (isEmptySelector(selector))
      errors.push(invalidGoValue('spec.selector', goLabelSelector(selector), `empty selector is invalid for ${what}`))
  }
  const template = partOf(spec, 'template')
  const isTaken = selectorTakes(selector, labelsOf(template))
  if (isTaken === undefined) {
    errors.push(invalidGoValue('spec.selector', goLabelSelector(selector ?? {}), 'invalid label selector'))
    return
  }
  if (!isTaken) errors.push(notSelected(template, `${rules.path}.metadata.labels`))
  validateLastingTemplate(errors, template, rules)
}

/** The labels of a template are others than those that its owner looks for. */
export function notSelected(template: Part, path: string): FieldError {
  return invalidGoValue(path, goLabels(labelsOf(template)), '`selector` does not match template `labels`')
}

export function labelsOf(template: Part): Part {
  return partOf(partOf(template, 'metadata'), 'labels')
}

/** Whether a selector says nothing, so that it takes everything. */
export function isEmptySelector(selector: Part): boolean {
  return Object.keys(partOf(selector, 'matchLabels')).length === 0 && itemsOf(selector, 'matchExpressions').length === 0
}

/** Whether a selector takes an object with these labels; undefined when it cannot be read. No selector takes nothing. */
export function selectorTakes(selector: Part | undefined, labels: Part): boolean | undefined {
  if (selector === undefined) return false
  const reading = toLabelRequirements(selector as LabelSelector)
  return reading.kind === 'selector' ? matchesLabels(reading.requirements, labels as Record<string, string>) : undefined
}

/** A disk that one machine writes cannot be mounted by several. */
function refuseWritableDisks(errors: FieldError[], volumes: readonly Part[], path: string): void {
  for (const [index, volume] of volumes.entries()) {
    const disk = optionalPart(volume, 'gcePersistentDisk')
    if (disk === undefined || disk['readOnly'] === true) continue
    const detail = 'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only'
    errors.push(invalidValue(`${path}[${index}].gcePersistentDisk.readOnly`, false, detail))
  }
}

/** How many Pods an owner wants. */
export function replicasOf(spec: Part): number | bigint {
  return numberOf(spec, 'replicas') ?? 0
}
