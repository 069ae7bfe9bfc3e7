import { field, needed, noTag } from '../../description/fields.ts'
import { text } from '../../description/texts.ts'
import { list, ref } from '../../description/values.ts'
import type { FieldError } from '../../meta/status.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidValue } from '../../validation/field-errors.ts'
import { itemsOf, type Part, textOf } from '../../validation/part.ts'
import { as, liveAt, type RuleContext, type TypeRules, within } from '../../validation/rule-book.ts'

const revisionPattern = /^(?:0|[1-9][0-9]*)$/

/** A StorageVersionMigration. Its spec is immutable. It can end only once, and its resource version can be set only once. */
export const migrationRules: Readonly<Record<string, TypeRules>> = {
  'storagemigration/v1.StorageVersionMigrationSpec': [
    within(
      'resource',
      as('resource', needed(text('label1035'), noTag, { needed: 'resource is required to be set' })),
      as('group', field(text('subdomain'))),
    ),
  ],
  'storagemigration/v1.StorageVersionMigrationStatus': [validateRevision, 'conditions', keepRevision, validateEnd],
}

const at = 'status.resourceVersion'

function validateRevision(errors: FieldError[], status: Part): void {
  const revision = textOf(status, 'resourceVersion')
  if (revision === '' || revisionPattern.test(revision)) return
  errors.push(invalidValue(at, revision, `resource version is not well formed: ${revision}`))
}

function keepRevision(errors: FieldError[], status: Part, _at: string, context: RuleContext): void {
  const [revision, before] = [textOf(status, 'resourceVersion'), textOf(liveAt(context, 'status'), 'resourceVersion')]
  if (before !== '' && revision !== before) errors.push(invalidValue(at, revision, 'field is immutable'))
}

function validateEnd(errors: FieldError[], status: Part, _at: string, context: RuleContext): void {
  const before = liveAt(context, 'status')
  const fault = (detail: string) =>
    errors.push(invalidValue('status.conditions', goValue(list(ref('meta/v1.Condition')), itemsOf(status, 'conditions')), detail))
  const [hasSucceeded, hasFailed] = ['Succeeded', 'Failed'].map((type) => isTrue(status, type))
  if (hasSucceeded && hasFailed) fault('Both success and failed conditions cannot be true at the same time')
  if (isTrue(before, 'Succeeded') && !hasSucceeded) fault('Success condition cannot be set to false once it is true')
  if (isTrue(before, 'Failed') && !hasFailed) fault('Failed condition cannot be set to false once it is true')
}

function isTrue(status: Part, type: string): boolean {
  return itemsOf(status, 'conditions').some((condition) => condition['type'] === type && condition['status'] === 'True')
}
