import { intOrString, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { forbiddenValue, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import { liveAt, type RuleContext, type TypeRules } from '../../validation/rule-book.ts'
import { rollbackAnnotation } from '../defaults/workloads.ts'
import { isGiven, isNoneOf, notDecremented, notMoreThan, notMoreThanWhole, numberOf } from './checks.ts'
import { selectedTemplate } from './pod-template.ts'

export const deploymentRules: Readonly<Record<string, TypeRules>> = {
  'apps/v1.DeploymentSpec': [
    ...['replicas', selectedTemplate({ owner: 'ReplicaSet', what: 'deployment' })],
    { passedOver: ['selector', 'template', 'strategy'] },
    validateStrategy,
    ...['minReadySeconds', 'revisionHistoryLimit'],
    refuseNegativeRevision,
    'progressDeadlineSeconds',
    validateDeadline,
  ],
  'apps/v1.RollingUpdateDeployment': ['maxUnavailable', 'maxSurge', requireProgress],
  'apps/v1.DeploymentStatus': ['*', validateCounts],
}

/** The rollback revision is stored in an annotation. The error names the field that it once was. */
function refuseNegativeRevision(errors: FieldError[], _spec: Part, _at: string, { object }: RuleContext): void {
  const revision = textOf(partOf(partOf(object, 'metadata'), 'annotations'), rollbackAnnotation)
  if (!revision.startsWith('-')) return
  errors.push(invalidValue('spec.rollback.version', Number(revision), 'must be greater than or equal to 0'))
}

function validateDeadline(errors: FieldError[], spec: Part): void {
  const deadline = numberOf(spec, 'progressDeadlineSeconds')
  if (deadline === undefined || deadline > (numberOf(spec, 'minReadySeconds') ?? 0)) return
  errors.push(invalidValue('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'))
}

function validateStrategy(errors: FieldError[], spec: Part, _at: string, context: RuleContext): void {
  const strategy = partOf(spec, 'strategy')
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
  else context.rules.of('apps/v1.RollingUpdateDeployment')(errors, rolling, at, context)
}

function requireProgress(errors: FieldError[], rolling: Part, at: string): void {
  if (isNoneOf(rolling['maxUnavailable']) && isNoneOf(rolling['maxSurge'])) {
    const none = goValue(intOrString(), rolling['maxUnavailable'])
    errors.push(invalidValue(`${at}.maxUnavailable`, none, 'may not be 0 when `maxSurge` is 0'))
  }
  notMoreThanWhole(errors, rolling, 'maxUnavailable', at)
}

function validateCounts(errors: FieldError[], status: Part, at: string, context: RuleContext): void {
  const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas']
  notMoreThan(errors, status, parts, { bound: 'replicas', detail: 'cannot be greater than status.replicas' })
  notMoreThan(errors, status, ['availableReplicas'], { bound: 'readyReplicas', detail: 'cannot be greater than readyReplicas' })
  notDecremented(errors, status, liveAt(context, at), 'collisionCount')
}
