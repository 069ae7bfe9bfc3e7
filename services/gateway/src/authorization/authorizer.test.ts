import { expect, test } from 'vitest'
import { type Authorizer, type Decision, decide } from './authorizer.ts'

const user = { name: 'u', uid: '', groups: [], extra: {} }
const access = { kind: 'path', verb: 'get', path: '/' } as const
const none = (reason = '', error?: string): Decision => ({ kind: 'noOpinion', reason, ...(error === undefined ? {} : { error }) })

/** Decides at once, or later, as these do; authorizers after the first opinion must not be asked. */
async function ask(...decisions: readonly Decision[]) {
  const answers: unknown[] = []
  for (const isLate of [false, true]) {
    const asked: number[] = []
    const authorizers = decisions.map((decision, index): Authorizer => {
      const authorize = () => {
        asked.push(index)
        return isLate && index % 2 === 0 ? Promise.resolve(decision) : decision
      }
      return { authorize, rulesOf: () => ({ rules: [] }) }
    })
    answers.push({ decision: await decide(authorizers, user, access), asked: asked.length })
  }
  expect(answers[1]).toEqual(answers[0])
  return answers[0]
}

test.each(['allow', 'deny'] as const)('AUTHZ-07: the first opinion decides, and no further authorizer is asked: %s', async (kind) => {
  const decision = { kind, reason: 'because' }
  expect(await ask(none('a'), none(), decision, { kind: 'allow', reason: 'late' }, none())).toEqual({ decision, asked: 3 })
})

test('AUTHZ-07: the reasons and errors of all are returned without an opinion', async () => {
  expect(await ask(none('a'), none(), none('b', 'x'), none('', 'y'))).toEqual({
    decision: { kind: 'noOpinion', reason: 'a\nb', error: 'x, y' },
    asked: 4,
  })
  expect(await ask(none(), none('a'))).toEqual({ decision: { kind: 'noOpinion', reason: 'a' }, asked: 2 })
  expect(await ask()).toEqual({ decision: { kind: 'noOpinion', reason: '' }, asked: 0 })
})

test('AUTHZ-07: an error beside an opinion stays with it', async () => {
  expect(await ask(none('', 'x'), { kind: 'deny', reason: '', error: 'y' })).toEqual({
    decision: { kind: 'deny', reason: '', error: 'y' },
    asked: 2,
  })
})

test('a decision that is known at once costs no promise', () => {
  const at = (decision: Decision): Authorizer => ({ authorize: () => decision, rulesOf: () => ({ rules: [] }) })
  expect(decide([at(none('a')), at({ kind: 'allow', reason: '' })], user, access)).toEqual({ kind: 'allow', reason: '' })
})
