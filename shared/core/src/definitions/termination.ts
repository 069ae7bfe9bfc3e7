import { domainGroup, type Names } from '../names.ts'
import type { Part } from '../validation/part.ts'
import { type DefinitionCondition, type DefinitionStatus, statusOf } from './definition-spec.ts'
import { withConditions } from './settle-status.ts'

/** The finalizer that keeps a definition until its objects are deleted. */
export function cleanupFinalizer(names: Names): string {
  return domainGroup(names, 'customresourcecleanup.apiextensions')
}

/** The progress of deleting the objects of a definition. */
export type TerminationStep =
  | { readonly kind: 'pending' | 'inProgress' | 'completed' | 'neverEstablished' | 'overlapping' }
  | { readonly kind: 'failed' | 'unconfirmed'; readonly message: string }

/** The status of a definition under deletion. */
export function terminatingStatus(definition: Part, step: TerminationStep, now: string): DefinitionStatus {
  const status = statusOf(definition)
  const conditions = withConditions(status.conditions ?? [], now, [{ type: 'Terminating', ...conditionOf(step) }])
  return { ...status, conditions }
}

function conditionOf(step: TerminationStep): Omit<DefinitionCondition, 'type'> {
  switch (step.kind) {
    case 'pending':
      return {
        status: 'True',
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      }
    case 'inProgress':
      return { status: 'True', reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' }
    case 'completed':
      return { status: 'False', reason: 'InstanceDeletionCompleted', message: 'removed all instances' }
    case 'neverEstablished':
      return { status: 'False', reason: 'NeverEstablished', message: 'resource was never established' }
    case 'overlapping':
      return { status: 'False', reason: 'OverlappingBuiltInResource', message: 'instances overlap with built-in resources in storage' }
    case 'failed':
      return { status: 'True', reason: 'InstanceDeletionFailed', message: step.message }
    case 'unconfirmed':
      return {
        status: 'True',
        reason: 'InstanceDeletionCheck',
        message: `could not confirm zero CustomResources remaining: ${step.message}`,
      }
  }
}
