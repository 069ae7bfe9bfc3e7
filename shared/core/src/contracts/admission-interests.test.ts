import { expect, test } from 'vitest'
import type { Interest } from './admission.ts'
import { createInterestIndex } from './admission-interests.ts'

const place = { operation: 'CREATE', group: '', resource: 'pods', subresource: '', namespace: 'default' }

function anInterest(changes: Partial<Interest>): Interest {
  return { phase: '*', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [], ...changes }
}

test('places that differ in one thing are told apart, asked in any order', () => {
  const index = createInterestIndex([
    { interest: anInterest({ phase: 'mutate', resources: ['pods'] }), value: 'mutates' },
    { interest: anInterest({ operations: ['UPDATE'] }), value: 'updates' },
    { interest: anInterest({ groups: ['apps'] }), value: 'apps' },
    { interest: anInterest({ resources: ['pods/status'] }), value: 'status' },
    { interest: anInterest({ resources: ['nodes'] }), value: 'nodes' },
    { interest: anInterest({ namespaces: ['team'], resources: ['pods'] }), value: 'team' },
  ])
  const cases = [
    ['mutate', place, ['mutates']],
    ['validate', place, []],
    ['mutate', { ...place, namespace: 'team' }, ['mutates', 'team']],
    ['mutate', place, ['mutates']],
    ['mutate', { ...place, operation: 'UPDATE' }, ['mutates', 'updates']],
    ['validate', { ...place, group: 'apps' }, ['apps']],
    ['validate', { ...place, subresource: 'status' }, ['status']],
    ['validate', { ...place, resource: 'nodes' }, ['nodes']],
    ['validate', place, []],
  ] as const
  // Whatever was asked before, the answer is the same.
  for (const [before, then] of cases.flatMap((one) => cases.map((other) => [one, other] as const))) {
    for (const [phase, asked, found] of [before, then]) expect(index.find(phase, asked)).toEqual(found)
  }
})
