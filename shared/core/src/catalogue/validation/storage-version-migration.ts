import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkLabel1035, checkSubdomain } from '../../meta/validate-names.ts'
import { goValue } from '../../schema/go-value.ts'
import { immutableValue, invalidFor, invalidValue, requiredValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { validateSharedConditions } from './conditions.ts'

const revisionPattern = /^(?:0|[1-9][0-9]*)$/

/** The rules of a StorageVersionMigration, whose spec never changes. */
export function validateMigration(migration: Part, live?: Part): FieldError[] {
  const spec = partOf(migration, 'spec')
  const [group, resource] = ['group', 'resource'].map((name) => textOf(partOf(spec, 'resource'), name))
  const errors: FieldError[] = []
  if (!resource) errors.push(requiredValue('spec.resource.resource', 'resource is required to be set'))
  else errors.push(...invalidFor('spec.resource.resource', resource, checkLabel1035(resource)))
  if (group) errors.push(...invalidFor('spec.resource.group', group, checkSubdomain(group)))
  if (live !== undefined && immutableValue('spec', spec, partOf(live, 'spec')).length > 0) {
    const shown = goValue(ref('storagemigration/v1.StorageVersionMigrationSpec'), spec)
    errors.push(invalidValue('spec', shown, 'field is immutable'))
  }
  return errors
}

/** The rules of its status: a migration ends once, and begins at one revision. */
export function validateMigrationStatus(migration: Part, live?: Part): FieldError[] {
  const errors: FieldError[] = []
  const status = partOf(migration, 'status')
  const before = partOf(live, 'status')
  const [revision, revisionBefore] = [textOf(status, 'resourceVersion'), textOf(before, 'resourceVersion')]
  const at = 'status.resourceVersion'
  if (revision !== '' && !revisionPattern.test(revision)) {
    errors.push(invalidValue(at, revision, `resource version is not well formed: ${revision}`))
  }
  const conditions = itemsOf(status, 'conditions')
  validateSharedConditions(errors, conditions, 'status.conditions')
  if (revisionBefore !== '' && revision !== revisionBefore) errors.push(invalidValue(at, revision, 'field is immutable'))
  const fault = (detail: string) =>
    errors.push(invalidValue('status.conditions', goValue(ref('storagemigration/v1.StorageVersionMigrationStatus'), status), detail))
  const [isRunning, hasSucceeded, hasFailed] = ['Running', 'Succeeded', 'Failed'].map((type) => isTrue(status, type))
  if (hasSucceeded && hasFailed) fault('Both success and failed conditions cannot be true at the same time')
  if (hasSucceeded && isRunning) fault('Running condition cannot be true when success condition is true')
  if (hasFailed && isRunning) fault('Running condition cannot be true when failed condition is true')
  if (isTrue(before, 'Succeeded') && !hasSucceeded) fault('Success condition cannot be set to false once it is true')
  if (isTrue(before, 'Failed') && !hasFailed) fault('Failed condition cannot be set to false once it is true')
  return errors
}

function isTrue(status: Part, type: string): boolean {
  return itemsOf(status, 'conditions').some((condition) => condition['type'] === type && condition['status'] === 'True')
}
