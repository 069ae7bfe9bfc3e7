import { intOrString, ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import type { Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { rollbackAnnotation } from '../defaults/workloads.ts'
import {
  countOrPercent,
  immutable,
  isGiven,
  isNoneOf,
  notDecremented,
  notMoreThan,
  notMoreThanWhole,
  notNegative,
  numberOf,
} from './checks.ts'
import { replicasOf, validateSelectedTemplate } from './pod-template.ts'

/** The rules of a Deployment's spec. */
export function validateDeployment(deployment: Part, live: Part | undefined, names: Names): FieldError[] {
  const errors: FieldError[] = []
  const spec = partOf(deployment, 'spec')
  notNegative(errors, spec, ['replicas'], 'spec')
  const rules = { owner: 'ReplicaSet', path: 'spec.template', replicas: replicasOf(spec), names }
  validateSelectedTemplate(errors, spec, rules, 'deployment')
  validateStrategy(errors, partOf(spec, 'strategy'))
  notNegative(errors, spec, ['minReadySeconds', 'revisionHistoryLimit'], 'spec')
  errors.push(...negativeRevision(deployment))
  notNegative(errors, spec, ['progressDeadlineSeconds'], 'spec')
  const deadline = numberOf(spec, 'progressDeadlineSeconds')
  if (deadline !== undefined && deadline <= (numberOf(spec, 'minReadySeconds') ?? 0)) {
    errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
  }
  if (live !== undefined) immutable(errors, { part: spec, live: partOf(live, 'spec'), name: 'selector', path: 'spec.selector' })
  return errors
}

/** The revision to go back to is kept in an annotation, and refused by the name of the field that it was. */
function negativeRevision(deployment: Part): FieldError[] {
  const revision = textOf(partOf(partOf(deployment, 'metadata'), 'annotations'), rollbackAnnotation)
  return revision.startsWith('-') ? [invalidValue('spec.rollback.version', Number(revision), 'must be greater than or equal to 0')] : []
}

function validateStrategy(errors: FieldError[], strategy: Part): void {
  const at = 'spec.strategy.rollingUpdate'
  const type = textOf(strategy, 'type')
  const rolling = optionalPart(strategy, 'rollingUpdate')
  if (type === 'Recreate') {
    if (isGiven(strategy, 'rollingUpdate')) {
      errors.push(forbiddenValue(at, "may not be specified when strategy `type` is 'Recreate'"))
    }
  } else if (type !== 'RollingUpdate') {
    const printed = goValue(ref('apps/v1.DeploymentStrategy'), strategy)
    errors.push(unsupportedValue('spec.strategy', printed, ['Recreate', 'RollingUpdate']))
  } else if (rolling === undefined) errors.push(requiredValue(at, 'this should be defaulted and never be nil'))
  else validateRollingUpdate(errors, rolling, at)
}

function validateRollingUpdate(errors: FieldError[], rolling: Part, at: string): void {
  countOrPercent(errors, rolling, 'maxUnavailable', at)
  countOrPercent(errors, rolling, 'maxSurge', at)
  if (isNoneOf(rolling['maxUnavailable']) && isNoneOf(rolling['maxSurge'])) {
    const none = goValue(intOrString(), rolling['maxUnavailable'])
    errors.push(invalidValue(`${at}.maxUnavailable`, none, 'may not be 0 when `maxSurge` is 0'))
  }
  notMoreThanWhole(errors, rolling, 'maxUnavailable', at)
}

const counts = ['observedGeneration', 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas']

/** The counts of a Deployment. */
export function validateDeploymentStatus(deployment: Part, live: Part | undefined): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(deployment, 'status')
  notNegative(errors, status, [...counts, 'collisionCount'], 'status')
  const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas']
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than readyReplicas' })
  notDecremented(errors, status, partOf(live, 'status'), 'collisionCount')
  return errors
}
