import { describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { sameOwners } from './same-owners.ts'

const entry = (more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager: 'm1',
  operation: 'Apply',
  apiVersion: 'example.com/v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
  ...more,
})

describe('two lists of entries', () => {
  test('are equal if they differ only in times', () => {
    const right = [entry({ time: '2030-01-01T00:00:00Z' }), entry({ manager: 'm2' })]
    expect(sameOwners([entry({ manager: 'm2' }), entry()], right)).toBe(true)
    expect(sameOwners([], [])).toBe(true)
  })

  test.each<[string, ManagedFieldsEntry]>([
    ['the manager', entry({ manager: 'm3' })],
    ['the operation', entry({ operation: 'Update' })],
    ['the subresource', entry({ subresource: 'status' })],
    ['the version of an applier', entry({ apiVersion: 'example.com/v2' })],
    ['the fields', entry({ fieldsV1: { 'f:b': {} } })],
    ['what can be read', entry({ fieldsV1: { 'x:b': {} } })],
  ])('are different if %s of one entry differs', (_what, other) => {
    const same = entry({ manager: 'm2' })
    expect(sameOwners([same, entry()], [same, other])).toBe(false)
    expect(sameOwners([same, other], [same, entry()])).toBe(false)
  })

  test('are different if one has more entries', () => {
    expect(sameOwners([entry()], [entry(), entry({ manager: 'm2' })])).toBe(false)
    expect(sameOwners([entry(), entry({ manager: 'm2' })], [entry()])).toBe(false)
  })
})
