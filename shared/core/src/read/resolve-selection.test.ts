import { expect, test } from 'vitest'
import { everything } from '../selectors/selection.ts'
import { resolveSelection } from './resolve-selection.ts'

const supportedFields = ['metadata.name', 'metadata.namespace']

test('QP-10, QP-12: label selector and field selector both apply', () => {
  expect(resolveSelection({ labelSelector: 'a=b', fieldSelector: 'metadata.name=c', supportedFields })).toEqual({
    kind: 'selection',
    selection: {
      labels: [{ key: 'a', operator: 'In', values: ['b'] }],
      fields: [{ field: 'metadata.name', operator: 'Equals', value: 'c' }],
    },
  })
})

test('an absent or empty selector selects everything', () => {
  expect(resolveSelection({ supportedFields })).toEqual({ kind: 'selection', selection: everything })
  expect(resolveSelection({ labelSelector: '', fieldSelector: '', supportedFields })).toEqual({ kind: 'selection', selection: everything })
})

test.each([
  [{ labelSelector: 'x==a==b' }, "found '==', expected: ',' or 'end of string'"],
  [{ fieldSelector: 'bogus' }, "invalid selector: 'bogus'; can't understand 'bogus'"],
  [{ fieldSelector: 'spec.size=1' }, '"spec.size" is not a known field selector: only "metadata.name", "metadata.namespace"'],
])('QP-23: %o is a 400', (query, message) => {
  const resolved = resolveSelection({ ...query, supportedFields })
  expect(resolved.kind === 'refused' && [resolved.error.code, resolved.error.reason, resolved.error.message]).toEqual([
    400,
    'BadRequest',
    message,
  ])
})
