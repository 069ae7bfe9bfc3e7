import { createCatalogue } from '@orch/core/catalogue'
import { expect, test } from 'vitest'
import { decodeCandidate } from './candidate.ts'

const configMaps = createCatalogue('orch').find('', 'v1', 'configmaps')!
const decode = (value: Record<string, unknown>, more: { duplicates?: string[]; repeats?: string[] } = {}) =>
  decodeCandidate(configMaps, value, { hasBigIntegers: false, duplicates: [], ...more })

test('an empty list of owners is one empty entry, as decoding drops it; any other list stays', () => {
  const owners = (managedFields?: object[]) =>
    decode({ metadata: { name: 'a', ...(managedFields && { managedFields }) } }).object.metadata.managedFields
  expect(owners([])).toEqual([{}])
  expect(owners([{ manager: 'm' }])).toEqual([{ manager: 'm' }])
  expect(owners()).toBeUndefined()
})

test('problems are unknown fields, duplicate fields and duplicate keys of YAML', () => {
  expect(decode({ metadata: { name: 'a' } }).problems).toEqual([])
  expect(decode({ metadata: {}, other: 1 }, { duplicates: ['data'] }).problems).toEqual(['duplicate field "data"', 'unknown field "other"'])
  expect(decode({ metadata: {} }, { repeats: ['line 3: key "a" already set in map'] }).problems).toEqual([
    expect.stringContaining('line 3: key "a" already set in map'),
  ])
})

test('VAL-06: duplicates of free JSON are reported only in a patch', () => {
  const revisions = createCatalogue('orch').find('apps', 'v1', 'controllerrevisions')!
  const problemsOf = (isPatched: boolean) =>
    decodeCandidate(revisions, { data: { a: 2 } }, { hasBigIntegers: false, duplicates: ['revision', 'data.a'], isPatched }).problems
  expect(problemsOf(false)).toEqual(['duplicate field "revision"'])
  expect(problemsOf(true)).toEqual(['duplicate field "revision"', 'duplicate field "data.a"'])
})

test('an object gets the kind and version of its resource', () => {
  expect(decode({ kind: 'Other', apiVersion: 'v9', data: { x: '1' } }).object).toEqual({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { creationTimestamp: null },
    data: { x: '1' },
  })
})
