import { intOrString, ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { isSame, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { allowOneOf, countOrPercent, isGiven, isNoneOf, notDecremented, notMoreThan, notMoreThanWhole, notNegative } from './checks.ts'
import { labelsOf, notSelected, refuseEndingPods, selectorTakes, validateOwnSelector, validateTemplateMetadata } from './pod-template.ts'

/**
 * The rules of a StatefulSet's spec. As in kube-apiserver, most of its template's spec is not looked at before Pods are made of it:
 * volumes of the claims are not among those that the template names.
 */
export function validateStatefulSet(set: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(set, 'spec')
  validateManagement(errors, textOf(spec, 'podManagementPolicy'))
  validateStrategy(errors, partOf(spec, 'updateStrategy'))
  const retention = partOf(spec, 'persistentVolumeClaimRetentionPolicy')
  for (const name of ['whenDeleted', 'whenScaled']) {
    allowOneOf(errors, { part: retention, name, at: 'spec.persistentVolumeClaimRetentionPolicy' }, ['Retain', 'Delete'])
  }
  notNegative(errors, spec, ['replicas', 'minReadySeconds'], 'spec')
  validateTemplate(errors, spec, names)
  if (live !== undefined) validateChange(errors, spec, partOf(live, 'spec'))
  return errors
}

function validateTemplate(errors: FieldError[], spec: Part, names: Names): void {
  const selector = optionalPart(spec, 'selector')
  validateOwnSelector(errors, selector, 'statefulset')
  const template = partOf(spec, 'template')
  const isTaken = selectorTakes(selector, labelsOf(template))
  if (isTaken === undefined) errors.push(invalidValue('spec.selector', goValue(ref('meta/v1.LabelSelector'), selector ?? {})))
  else {
    if (!isTaken) errors.push(notSelected(template, 'spec.template.metadata.labels'))
    validateTemplateMetadata(errors, template, { path: 'spec.template', names })
  }
  refuseEndingPods(errors, template, { owner: 'StatefulSet', path: 'spec.template' })
}

function validateManagement(errors: FieldError[], policy: string): void {
  if (policy === '') errors.push(requiredValue('spec.podManagementPolicy'))
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(invalidValue('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"))
  }
}

function validateStrategy(errors: FieldError[], strategy: Part): void {
  const type = textOf(strategy, 'type')
  const at = 'spec.updateStrategy.rollingUpdate'
  if (type === '') errors.push(requiredValue('spec.updateStrategy'))
  else if (type === 'OnDelete') {
    if (!isGiven(strategy, 'rollingUpdate')) return
    errors.push(
      invalidValue(
        at,
        goValue(ref('apps/v1.RollingUpdateStatefulSetStrategy'), strategy['rollingUpdate']),
        "only allowed for updateStrategy 'RollingUpdate'",
      ),
    )
  } else if (type !== 'RollingUpdate') {
    const printed = goValue(ref('apps/v1.StatefulSetUpdateStrategy'), strategy)
    errors.push(invalidValue('spec.updateStrategy', printed, "must be 'RollingUpdate' or 'OnDelete'"))
  } else {
    const rolling = optionalPart(strategy, 'rollingUpdate')
    if (rolling !== undefined) validateRollingUpdate(errors, rolling, at)
  }
}

function validateRollingUpdate(errors: FieldError[], rolling: Part, at: string): void {
  notNegative(errors, rolling, ['partition'], at)
  if (!isGiven(rolling, 'maxUnavailable')) return
  countOrPercent(errors, rolling, 'maxUnavailable', at)
  if (isNoneOf(rolling['maxUnavailable'])) {
    errors.push(invalidValue(`${at}.maxUnavailable`, goValue(intOrString(), rolling['maxUnavailable']), 'cannot be 0'))
  }
  notMoreThanWhole(errors, rolling, 'maxUnavailable', at)
}

const changeable = new Set(['replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy', 'minReadySeconds'])

/** Pods that are there were made by what stays. */
function validateChange(errors: FieldError[], spec: Part, live: Part): void {
  const names = new Set([...Object.keys(spec), ...Object.keys(live)])
  const isChanged = [...names].some((name) => !changeable.has(name) && !isSame(spec[name], live[name]))
  if (!isChanged) return
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', " +
    "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
  errors.push(forbiddenValue('spec', detail))
}

/** The counts of a StatefulSet. */
export function validateStatefulSetStatus(set: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(set, 'status')
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']
  notNegative(errors, status, ['replicas', ...parts, 'observedGeneration', 'collisionCount'], 'status')
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than status.readyReplicas' })
  notDecremented(errors, status, partOf(live, 'status'), 'collisionCount')
  return errors
}
