import { describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { runAtOnce } from '../steps.ts'
import { emptySet } from './field-set.ts'
import { type Owner, parseOwners, printOwners } from './ownership.ts'

const entry: ManagedFieldsEntry = {
  manager: 'm1',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
}
const ownerOf = (given: ManagedFieldsEntry): Owner => [...(runAtOnce(parseOwners([given]))?.values() ?? [])][0] as Owner
const printed = (...owners: Owner[]) => runAtOnce(printOwners(owners))

describe('the entry of an owner', () => {
  test('is the stored entry while nothing in it changes', () => {
    expect(printed(ownerOf(entry))[0]).toBe(entry)
  })

  test('has the current time, version and set', () => {
    const owner = ownerOf(entry)
    expect(printed({ ...owner, time: '2030-01-01T00:00:00Z' })).toEqual([{ ...entry, time: '2030-01-01T00:00:00Z' }])
    expect(printed({ ...owner, apiVersion: 'v2' })).toEqual([{ ...entry, apiVersion: 'v2' }])
    expect(printed({ ...owner, set: ownerOf({ ...entry, fieldsV1: { 'f:b': {} } }).set })).toEqual([{ ...entry, fieldsV1: { 'f:b': {} } }])
  })

  test('has no member for an unknown time', () => {
    expect(Object.keys(printed({ ...ownerOf(entry), time: undefined })[0] ?? {})).not.toContain('time')
  })

  test('SSA-58: is left out if the owner owns nothing', () => {
    expect(printed({ ...ownerOf(entry), set: emptySet })).toEqual([])
  })
})

test('entries within one second are ordered by manager, ignoring fractions of a second', () => {
  const early = ownerOf({ ...entry, manager: 'b', time: '2026-01-01T00:00:00.1Z' })
  const late = ownerOf({ ...entry, manager: 'a', time: '2026-01-01T00:00:00.9Z' })
  expect(printed(early, late).map(({ manager }) => manager)).toEqual(['a', 'b'])
})

test('an empty list has no owners', () => {
  expect(runAtOnce(parseOwners(undefined))).toEqual(new Map())
  expect(runAtOnce(parseOwners(null))).toEqual(new Map())
})
