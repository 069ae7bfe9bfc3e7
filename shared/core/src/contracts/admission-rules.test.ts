import { expect, test } from 'vitest'
import type { AdmissionRule } from './admission.ts'
import { createAdmissionRuleIndex } from './admission-rules.ts'

const place = { operation: 'CREATE', group: '', resource: 'pods', subresource: '', namespace: 'default' }

function anAdmissionRule(changes: Partial<AdmissionRule>): AdmissionRule {
  return { phase: '*', operations: ['*'], groups: ['*'], resources: ['*/*'], namespaces: [], ...changes }
}

test('requests that differ in one attribute are distinguished, in any order', () => {
  const index = createAdmissionRuleIndex([
    { admissionRule: anAdmissionRule({ phase: 'mutate', resources: ['pods'] }), value: 'mutates' },
    { admissionRule: anAdmissionRule({ operations: ['UPDATE'] }), value: 'updates' },
    { admissionRule: anAdmissionRule({ groups: ['apps'] }), value: 'apps' },
    { admissionRule: anAdmissionRule({ resources: ['pods/status'] }), value: 'status' },
    { admissionRule: anAdmissionRule({ resources: ['nodes'] }), value: 'nodes' },
    { admissionRule: anAdmissionRule({ namespaces: ['team'], resources: ['pods'] }), value: 'team' },
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
  // Earlier questions do not affect the answer.
  for (const [before, then] of cases.flatMap((one) => cases.map((other) => [one, other] as const))) {
    for (const [phase, asked, found] of [before, then]) expect(index.find(phase, asked)).toEqual(found)
  }
})
