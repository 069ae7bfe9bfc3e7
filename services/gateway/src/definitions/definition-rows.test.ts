import { encodeNamesRow, type NamesRow } from '@orch/core/definitions'
import { decodeStored } from '@orch/core/stored'
import { expect, test } from 'vitest'
import { mayBePending } from './definition-rows.ts'

const names = { plural: 'things', kind: 'Thing' }

function rowOf(definitions: NamesRow['definitions']): { value: Uint8Array } {
  return { value: decodeStored(encodeNamesRow('example.com', { definitions }, 'w')).json }
}

test('a row of names shows without being read whether a write of one of its definitions may be in progress', () => {
  expect(mayBePending(rowOf({ 'things.example.com': { uid: '1', names } }))).toBe(false)
  const others = { 'more.example.com': { uid: '2', names, former: names } }
  expect(mayBePending(rowOf({ 'things.example.com': { uid: '1', names, pending: 'w' }, ...others }))).toBe(true)
})
