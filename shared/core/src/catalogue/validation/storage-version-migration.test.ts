import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/status.ts'
import { namesOf } from '../../names.ts'
import type { Part } from '../../validation/part.ts'
import { validateObject } from '../testing/readers-testing.ts'

const type = 'storagemigration/v1.StorageVersionMigration'

const validate =
  (part: 'main' | 'status') =>
  (object: Part, live?: Part): string[] =>
    validateObject({ type, body: object, object, live, part, names: namesOf('orch'), level: 37 }).map((error) => printFieldError(error, 37))

const [validateMigration, validateMigrationStatus] = [validate('main'), validate('status')]

const migrationOf = (resource: object, status: object = {}) => ({ spec: { resource }, status })

test('SVM-02: a resource and its group are valid names, and each error is reported separately', () => {
  expect(validateMigration(migrationOf({ group: 'apps', resource: 'deployments' }))).toEqual([])
  expect(validateMigration(migrationOf({ resource: 'secrets' }))).toEqual([])
  expect(validateMigration({ spec: {} })).toEqual(['spec.resource.resource: Required value: resource is required to be set'])
  expect(validateMigration(migrationOf({ resource: 'Secrets' }))).toEqual([
    expect.stringContaining('spec.resource.resource: Invalid value: "Secrets": a DNS-1035 label must'),
  ])
  expect(validateMigration(migrationOf({ group: 'a/b', resource: 'secrets' }))).toEqual([
    expect.stringContaining('spec.resource.group: Invalid value: "a/b": a lowercase RFC 1123 subdomain must'),
  ])
})

test('SVM-02: the spec is immutable', () => {
  const before = migrationOf({ group: '', resource: 'secrets' })
  expect(validateMigration(migrationOf({ resource: 'secrets' }), migrationOf({ resource: 'secrets' }))).toEqual([])
  expect(validateMigration(migrationOf({ group: '', resource: 'configmaps' }), before)).toEqual([
    expect.stringMatching(/^spec: Invalid value: .*configmaps.*: field is immutable$/),
  ])
})

const condition = (type: string, status: string) => ({ type, status, reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' })
const statusOf = (revision: string, ...conditions: readonly [string, string][]) =>
  migrationOf({ resource: 'secrets' }, { resourceVersion: revision, conditions: conditions.map((one) => condition(...one)) })

test.each([
  ['runs', statusOf('7', ['Running', 'True']), undefined, []],
  ['has ended', statusOf('7', ['Running', 'False'], ['Succeeded', 'True']), statusOf('7', ['Running', 'True']), []],
  ['has a text as revision', statusOf('x'), undefined, ['status.resourceVersion: Invalid value: "x"']],
  ['begins at another revision', statusOf('8'), statusOf('7'), ['status.resourceVersion: Invalid value: "8": field is immutable']],
  [
    'both',
    statusOf('7', ['Succeeded', 'True'], ['Failed', 'True']),
    undefined,
    ['Both success and failed conditions cannot be true at the same time'],
  ],
  ['runs after success', statusOf('7', ['Running', 'True'], ['Succeeded', 'True']), undefined, []],
  [
    'success taken back',
    statusOf('7', ['Succeeded', 'False']),
    statusOf('7', ['Succeeded', 'True']),
    ['Success condition cannot be set to false once it is true'],
  ],
  ['failure taken back', statusOf('7'), statusOf('7', ['Failed', 'True']), ['Failed condition cannot be set to false once it is true']],
  ['a condition of no status', statusOf('7', ['Running', 'Yes']), undefined, ['status.conditions[0].status: Unsupported value: "Yes"']],
])('SVM-03: a status has the expected errors: %s', (_title, now, before, expected) => {
  const errors = validateMigrationStatus(now, before)
  expect(errors).toEqual(expected.map((text) => expect.stringContaining(text)))
})
