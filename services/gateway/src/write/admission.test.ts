import { describe, expect, test } from 'vitest'
import type { GatewayRequest } from '../request/request.ts'
import type { Target } from '../target/target.ts'
import { joinConditions, namespaceOf, optionsOf } from './admission.ts'
import type { Condition } from './draft.ts'

const conditions = (...all: [key: string, revision: number][]): Condition[] => all.map(([key, revision]) => ({ key, revision }))

describe('conditions of two phases', () => {
  test.each<[string, Condition[], Condition[], Condition[]]>([
    ['the same one counts once', conditions(['a', 1], ['b', 2]), conditions(['b', 2]), conditions(['a', 1], ['b', 2])],
    ['another key is another one', conditions(['a', 1]), conditions(['b', 1]), conditions(['a', 1], ['b', 1])],
    ['another revision is another one', conditions(['a', 1]), conditions(['a', 2]), conditions(['a', 1], ['a', 2])],
  ])('%s', (_which, first, second, joined) => {
    expect(joinConditions(first, second)).toEqual(joined)
  })
})

test('an object is in the namespace of its path, a Namespace is in itself, and other cluster-scoped objects are in none', () => {
  const target = (resource: object) => ({ served: { resource }, info: { namespace: 'team' } }) as unknown as Target
  expect(namespaceOf(target({ isNamespaced: true }), 'a')).toBe('team')
  expect(namespaceOf(target({ isNamespaced: false, isPlace: true }), 'a')).toBe('a')
  expect(namespaceOf(target({ isNamespaced: false }), 'a')).toBe('')
})

test('admission sees the options of the operation, without members that the client omits', () => {
  const request = (values: Record<string, string>) => {
    const query = { isEmpty: Object.keys(values).length === 0, get: (name: string) => values[name] }
    return { query } as unknown as GatewayRequest
  }
  const given = { fieldManager: '', force: true, kind: 'PatchOptions' }
  const options = (operation: 'CREATE' | 'UPDATE' | 'DELETE', isDryRun = false, values = {}) =>
    optionsOf(operation, isDryRun, given, request(values))
  expect(options('CREATE')).toEqual({ kind: 'CreateOptions' })
  expect(options('UPDATE', true)).toEqual({ kind: 'UpdateOptions', dryRun: ['All'] })
  expect(options('UPDATE', false, { fieldValidation: 'Strict' })).toEqual({ kind: 'UpdateOptions', fieldValidation: 'Strict' })
  expect(options('DELETE')).toBe(given)
  expect(optionsOf('CREATE', false, { fieldManager: 'm' }, request({}))).toEqual({ kind: 'CreateOptions', fieldManager: 'm' })
})
