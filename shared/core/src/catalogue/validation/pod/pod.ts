import { ref } from '../../../description/values.ts'
import { type FieldError, joinTexts, textSince } from '../../../meta/index.ts'
import type { Names } from '../../../names.ts'
import { forbiddenValue, invalidValue } from '../../../validation/field-errors.ts'
import { differenceOf } from '../../../validation/object-difference.ts'
import { isSame, itemsOf, type Part, partOf, print, textOf } from '../../../validation/part.ts'
import type { RuleContext } from '../../../validation/rule-book.ts'
import { numberOf } from '../checks.ts'
import { validateAnnotationChange, validatePodAnnotations, validateProfilesMatch } from './pod-annotations.ts'
import { validateSpec } from './pod-spec.ts'
import { refuseTokensWithoutAccount } from './projected.ts'
import { isHeldBack, validateGateChange, validateNarrowing, withNodesOf } from './scheduling-gates.ts'

/** The rules of a new Pod, or of an update, which may change very little because the Pod may be running. */
export function validatePod(pod: Part, live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  const errors = validateContent(pod, context)
  const spec = partOf(pod, 'spec')
  const annotations = partOf(partOf(pod, 'metadata'), 'annotations')
  if (live !== undefined) {
    validateAnnotationChange(errors, annotations, partOf(partOf(live, 'metadata'), 'annotations'), names)
    validateChange(errors, spec, partOf(live, 'spec'), context.level)
    return errors
  }
  validateNewSpec(errors, spec)
  validateProfilesMatch(errors, { annotations, spec, path: 'spec' }, context)
  return errors
}

/** Validates the annotations and the spec of a Pod, even if they are unchanged. */
export function validateContent(pod: Part, context: RuleContext): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(pod, 'spec')
  const annotations = partOf(partOf(pod, 'metadata'), 'annotations')
  validatePodAnnotations(errors, { annotations, spec, path: 'metadata.annotations' }, context)
  validateSpec(errors, spec, 'spec', context)
  if (textOf(spec, 'serviceAccountName') === '') refuseTokensWithoutAccount(errors, itemsOf(spec, 'volumes'), 'spec.volumes')
  for (const list of ['containers', 'initContainers']) refusePaddedImages(errors, itemsOf(spec, list), `spec.${list}`)
  return errors
}

function validateNewSpec(errors: FieldError[], spec: Part): void {
  if (itemsOf(spec, 'ephemeralContainers').length > 0) {
    errors.push(forbiddenValue('spec.ephemeralContainers', 'cannot be set on create'))
  }
  if (textOf(spec, 'nodeName') !== '' && itemsOf(spec, 'schedulingGates').length > 0) {
    errors.push(forbiddenValue('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'))
  }
}

function refusePaddedImages(errors: FieldError[], containers: readonly Part[], path: string): void {
  for (const [index, container] of containers.entries()) {
    const image = textOf(container, 'image')
    if (image.trim() === image) continue
    errors.push(invalidValue(`${path}[${index}].image`, image, 'must not have leading or trailing whitespace'))
  }
}

const changeable = [
  ...['`spec.containers[*].image`', '`spec.initContainers[*].image`', '`spec.activeDeadlineSeconds`'],
  '`spec.tolerations` (only additions to existing tolerations)',
]
const changeableGrace = '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

const unchangeable = joinTexts([
  'pod updates may not change fields other than ',
  textSince(27, { before: `${changeable.join(', ')} or ${changeableGrace}`, after: [...changeable, changeableGrace].join(',') }),
])

function validateChange(errors: FieldError[], spec: Part, live: Part, level: number): void {
  if (spec === live) return
  for (const list of ['containers', 'initContainers']) {
    if (itemsOf(spec, list).length === itemsOf(live, list).length) continue
    errors.push(forbiddenValue(`spec.${list}`, 'pod updates may not add or remove containers'))
    return
  }
  validateDeadlineChange(errors, numberOf(spec, 'activeDeadlineSeconds'), numberOf(live, 'activeDeadlineSeconds'))
  validateTolerationChange(errors, itemsOf(spec, 'tolerations'), itemsOf(live, 'tolerations'))
  validateGateChange(errors, itemsOf(spec, 'schedulingGates'), itemsOf(live, 'schedulingGates'))
  const isNarrowed = isHeldBack(live, level)
  if (isNarrowed) validateNarrowing(errors, spec, live)
  const changed = withChangeable(isNarrowed ? withNodesOf(spec, live) : spec, live)
  if (isSame(changed, withChangeable(live, live))) return
  errors.push(forbiddenValue('spec', joinTexts([unchangeable, differenceOf(ref('core/v1.PodSpec'), live, changed)])))
}

function validateDeadlineChange(errors: FieldError[], after: number | bigint | undefined, before: number | bigint | undefined): void {
  if (before === undefined) return
  const refuse = (detail: string): void => void errors.push(invalidValue('spec.activeDeadlineSeconds', after ?? null, detail))
  if (after === undefined) refuse('must not update from a positive integer to nil value')
  else if (after > before) refuse('must be less than or equal to previous value')
}

/** Tolerations may be added, but existing ones may only change their time. */
function validateTolerationChange(errors: FieldError[], tolerations: readonly Part[], live: readonly Part[]): void {
  if (tolerations === live) return
  const identityOf = ({ tolerationSeconds: _seconds, ...rest }: Part): string => print(rest)
  const kept = new Set(tolerations.map(identityOf))
  if (!live.every((before) => kept.has(identityOf(before)))) {
    errors.push(forbiddenValue('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'))
  }
}

/** The changed spec with the live values of all mutable fields. */
function withChangeable(spec: Part, live: Part): Part {
  const { activeDeadlineSeconds, tolerations, schedulingGates, terminationGracePeriodSeconds: before } = live
  const grace = numberOf(spec, 'terminationGracePeriodSeconds')
  const wasNegative = (numberOf(live, 'terminationGracePeriodSeconds') ?? 0) < 0
  return {
    ...spec,
    activeDeadlineSeconds,
    tolerations,
    schedulingGates,
    containers: withImages(itemsOf(spec, 'containers'), itemsOf(live, 'containers')),
    initContainers: withImages(itemsOf(spec, 'initContainers'), itemsOf(live, 'initContainers')),
    terminationGracePeriodSeconds: wasNegative && grace === 1 ? before : grace,
  }
}

function withImages(containers: readonly Part[], live: readonly Part[]): readonly Part[] | undefined {
  if (containers.length === 0) return undefined
  return containers.map((container, index) => ({ ...container, image: live[index]?.['image'] }))
}
