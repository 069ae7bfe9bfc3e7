import { expect, test } from 'vitest'
import { compareVersions } from './version-order.ts'

test('CRD-69: versions are ordered by stability and number, other names alphabetically', () => {
  const ordered = ['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10', 'v1gamma']
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered)
})
