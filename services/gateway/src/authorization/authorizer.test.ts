import { namesOf } from '@orch/core/names'
import { expect, test } from 'vitest'
import type { GatewayRequest } from '../request/request.ts'
import { type Authorizer, authorize, type Decision, decide, refusal, requireMayCreate } from './authorizer.ts'

const user = { name: 'u', uid: '', groups: [], extra: {} }
const access = { kind: 'path', verb: 'get', path: '/' } as const
const none = (reason = '', error?: string): Decision => ({ kind: 'noOpinion', reason, ...(error === undefined ? {} : { error }) })

/** Authorizers with these decisions, synchronous or not; those after the first opinion must not be called. */
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

test('AUTHZ-07: without an opinion the reasons and errors of all authorizers are returned', async () => {
  expect(await ask(none('a'), none(), none('b', 'x'), none('', 'y'))).toEqual({
    decision: { kind: 'noOpinion', reason: 'a\nb', error: 'x, y' },
    asked: 4,
  })
  expect(await ask(none(), none('a'))).toEqual({ decision: { kind: 'noOpinion', reason: 'a' }, asked: 2 })
  expect(await ask()).toEqual({ decision: { kind: 'noOpinion', reason: '' }, asked: 0 })
})

test('AUTHZ-07: an error beside an opinion is returned with it', async () => {
  expect(await ask(none('', 'x'), { kind: 'deny', reason: '', error: 'y' })).toEqual({
    decision: { kind: 'deny', reason: '', error: 'y' },
    asked: 2,
  })
})

test('a decision that is known at once creates no promise', () => {
  const at = (decision: Decision): Authorizer => ({ authorize: () => decision, rulesOf: () => ({ rules: [] }) })
  expect(decide([at(none('a')), at({ kind: 'allow', reason: '' })], user, access)).toEqual({ kind: 'allow', reason: '' })
})

test('AUTHZ-07: the decision and its reason are in the annotations of the request, and its result is counted', () => {
  const results: string[] = []
  const annotationsOf = (decision: Decision) => {
    const annotations: Record<string, string> = {}
    const annotate = (key: string, value: string) => {
      annotations[key] = value
    }
    const request = { user, info: access, annotate, exchange: { target: '/' } } as unknown as GatewayRequest
    const authorizers = [{ authorize: () => decision, rulesOf: () => ({ rules: [] }) }]
    const accessMetrics = { authorized: (result: string) => results.push(result) }
    try {
      authorize(request, { authorizers, accessMetrics, clock: { monotonic: () => 0 }, names: namesOf('orch') })
    } catch {
      annotations['refused'] = 'yes'
    }
    return annotations
  }
  const [decision, reason] = ['decision', 'reason'].map((name) => `authorization.orch.io/${name}`) as [string, string]
  expect(annotationsOf({ kind: 'allow', reason: 'a rule' })).toEqual({ [decision]: 'allow', [reason]: 'a rule' })
  expect(annotationsOf(none('no rule'))).toEqual({ [decision]: 'forbid', [reason]: 'no rule', refused: 'yes' })
  expect(annotationsOf(none('', 'x'))).toEqual({ [decision]: 'forbid', [reason]: 'internal error', refused: 'yes' })
  expect(results).toEqual(['allowed', 'no-opinion', 'error'])
})

test('a write that creates an object must be allowed as a create; a POST is not checked twice', async () => {
  const asked: string[] = []
  const authorizers = (kind: Decision['kind']): Authorizer[] => [
    {
      authorize: (_user, asks) => {
        asked.push(asks.kind === 'resource' ? `${asks.verb} ${asks.name}` : '')
        return { kind, reason: '' }
      },
      rulesOf: () => ({ rules: [] }),
    },
  ]
  const request = (verb: string) =>
    ({
      user,
      info: { kind: 'resource', verb, group: '', resource: 'pods', subresource: '', name: '', namespace: 'd' },
    }) as unknown as GatewayRequest
  expect(requireMayCreate(request('create'), 'a', { authorizers: authorizers('deny') })).toBeUndefined()
  expect(asked).toEqual([])
  await requireMayCreate(request('update'), 'a', { authorizers: authorizers('allow') })
  await expect(requireMayCreate(request('patch'), 'b', { authorizers: authorizers('deny') })).rejects.toMatchObject({ code: 403 })
  expect(asked).toEqual(['create a', 'create b'])
})

test('ERR-18: a refusal quotes texts as Go does', () => {
  const odd = { ...user, name: 'a"\x01\u200b' }
  expect(refusal(odd, { ...access, path: '/\0' }, '').message).toBe('forbidden: User "a\\"\\x01\\u200b" cannot get path "/\\x00"')
})

test('ERR-18: a refusal escapes the characters of HTML in what the caller has chosen', () => {
  const odd = { ...user, name: 'a<b>&c' }
  const pods = {
    kind: 'resource',
    verb: 'list',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    name: '',
    namespace: 'd',
  } as const
  const message = 'pods is forbidden: User "a&lt;b&gt;&amp;c" cannot list resource "pods" in API group "" in the namespace "d": <why>'
  expect(refusal(odd, pods, '<why>').message).toBe(message)
  expect(refusal(odd, { ...access, path: '/<' }, '').message).toBe('forbidden: User "a&lt;b&gt;&amp;c" cannot get path "/&lt;"')
})
