import type { AccessDecision } from '@orch/core/contracts'
import { expect, test } from 'vitest'
import type { Inquiry } from '../plugin.ts'
import { AskedAccesses } from './request-input.ts'

const asked = { kind: 'resource', group: '', resource: 'pods', subresource: '', namespace: 'n', name: '', verb: 'list' } as const

/** The gateway's answers so far. */
function accessesWith(...decisions: readonly AccessDecision[]) {
  const decisionOn: Inquiry['decisionOn'] = ({ verb, fieldSelector }) =>
    decisions.find(({ access }) => access.verb === verb && access.fieldSelector === fieldSelector)
  const reinvocation = { isSecondRound: false, request: () => undefined, memory: new Map() }
  return new AskedAccesses({ reinvocation, context: {}, explain: false, decisionOn })
}

test('VAP-28: equal authorization checks of several expressions are asked once, and checks with other selectors are asked separately', () => {
  const accesses = accessesWith()
  accesses.authorize(asked)
  accesses.authorize({ ...asked })
  expect(accesses.unknownCount).toBe(1)
  accesses.authorize({ ...asked, fieldSelector: 'spec.nodeName=n1' })
  accesses.authorize({ ...asked, fieldSelector: 'spec.nodeName=n1' })
  accesses.authorize({ ...asked, serviceAccount: { namespace: 'n', name: 'a' } })
  const { question } = accesses
  expect(question).toMatchObject({ kind: 'asks', accesses: [{ verb: 'list' }, { fieldSelector: 'spec.nodeName=n1' }, { account: 'n:a' }] })
})

test('VAP-28: an authorization check that the gateway has answered is not asked again', () => {
  const access = { verb: 'list', group: '', version: '*', resource: 'pods', subresource: '', namespace: 'n', name: '' }
  const accesses = accessesWith({ access, isAllowed: true, reason: 'a role' })
  expect(accesses.authorize(asked)).toMatchObject({ isAllowed: true, reason: 'a role' })
  expect(accesses.question).toBeUndefined()
})
