import type { User } from '@orch/core/contracts'
import { compileAccessCondition } from '@orch/core/expressions'
import { namesOf } from '@orch/core/names'
import { createMetrics, type Metrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import { createAuthorizationMetrics } from './authorization-metrics.ts'
import { type Access, decide } from './authorizer.ts'
import { type AccessWebhookOptions, createAccessWebhook, type ReviewAnswer } from './webhook.ts'

const jane: User = { name: 'jane', groups: [], uid: '', extra: {} }
const path = (of: string): Access => ({ kind: 'path', verb: 'get', path: of })
const status = (of: unknown, version = 'v1') => ({
  code: 200,
  body: JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: `authorization.orch.io/${version}`, status: of }),
})
const yes = status({ allowed: true })
const no = status({ allowed: false })

/** A webhook whose requests are recorded, and answered in order; the last answer is repeated. */
function aWebhook(answers: readonly (ReviewAnswer | Error)[], options: Partial<AccessWebhookOptions> = {}) {
  const asked: string[] = []
  const clock = createFakeClock()
  const send = async (body: string) => {
    asked.push(body)
    const answer = answers[Math.min(asked.length, answers.length) - 1]
    if (answer === undefined || answer instanceof Error) throw answer
    return answer
  }
  const ttl = { authorizedTtlMs: 1_000, unauthorizedTtlMs: 100 }
  const common = { send, version: 'v1', ...ttl, names: namesOf('orch'), clock, random: () => 0 } as const
  const authorizer = createAccessWebhook({ ...common, ...options })
  return { authorizer, asked, clock, ask: async (access = path('/a'), user = jane) => authorizer.authorize(user, access) }
}

describe('AUTHZ-07: the question', () => {
  const resource = {
    kind: 'resource',
    verb: 'get',
    group: 'apps',
    version: 'v1',
    namespace: 'n',
    resource: 'r',
    subresource: 's',
    name: 'x',
  }
  const who = { name: 'jane', groups: ['g'], uid: '1', extra: { k: ['v'] } }

  test.each<[string, 'v1' | 'v1beta1', User, object, object]>([
    [
      'names all that is known of the user and the access',
      'v1',
      who,
      resource,
      {
        resourceAttributes: { verb: 'get', group: 'apps', version: 'v1', namespace: 'n', resource: 'r', subresource: 's', name: 'x' },
        ...{ user: 'jane', groups: ['g'], extra: { k: ['v'] }, uid: '1' },
      },
    ],
    [
      'leaves out what is empty',
      'v1',
      jane,
      { ...resource, group: '', subresource: '', name: '', namespace: '' },
      {
        resourceAttributes: { verb: 'get', version: 'v1', resource: 'r' },
        user: 'jane',
      },
    ],
    [
      'has the group of v1beta1',
      'v1beta1',
      { ...jane, groups: ['g'] },
      path('/a'),
      {
        nonResourceAttributes: { path: '/a', verb: 'get' },
        user: 'jane',
        group: ['g'],
      },
    ],
    ['may be of a user without a name', 'v1', { ...jane, name: '' }, path('/a'), { nonResourceAttributes: { path: '/a', verb: 'get' } }],
  ])('%s', async (_name, version, user, access, spec) => {
    const { asked, ask } = aWebhook([status({ allowed: true }, version)], { version })
    expect(await ask(access as Access, user)).toEqual({ kind: 'allow', reason: '' })
    expect(JSON.parse(asked[0] ?? '')).toEqual({
      kind: 'SubjectAccessReview',
      apiVersion: `authorization.orch.io/${version}`,
      metadata: { creationTimestamp: null },
      spec,
      status: { allowed: false },
    })
  })
})

describe('AUTHZ-07: the answer', () => {
  const failure = (error: string) => ({ kind: 'noOpinion', reason: '', error })
  const undecided = failure('the authorization webhook has answered without a decision')
  const noReview = failure('the authorization webhook has answered something else than a SubjectAccessReview of authorization.orch.io/v1')

  test.each<[unknown, object]>([
    [
      { allowed: true, reason: 'r' },
      { kind: 'allow', reason: 'r' },
    ],
    [
      { allowed: false, reason: 'r' },
      { kind: 'noOpinion', reason: 'r' },
    ],
    [
      { allowed: false, denied: true, reason: 'r' },
      { kind: 'deny', reason: 'r' },
    ],
    [
      { allowed: true, denied: true, reason: 'r' },
      { kind: 'deny', reason: 'r', error: expect.stringContaining('both allow and deny') },
    ],
    [{ allowed: 'true' }, undecided],
    [{ allowed: true, denied: 'x' }, undecided],
    [{ allowed: true, reason: 3 }, undecided],
    [undefined, undecided],
  ])('with status %j', async (of, expected) => {
    expect(await aWebhook([status(of)]).ask()).toEqual(expected)
  })

  test.each<[string, object]>([
    ['{', failure('the authorization webhook has answered something else than JSON')],
    ['3', failure('the authorization webhook has answered something else than an object')],
    ['null', failure('the authorization webhook has answered something else than an object')],
    [JSON.stringify({ kind: 'Other', apiVersion: 'authorization.orch.io/v1', status: { allowed: true } }), noReview],
    [JSON.stringify({ kind: 'SubjectAccessReview', apiVersion: 'other/v1', status: { allowed: true } }), noReview],
  ])('%s', async (body, expected) => {
    expect(await aWebhook([{ code: 200, body }]).ask()).toEqual(expected)
  })

  test.each([199, 300, 302, 400, 403, 404])('with %i is not repeated', async (code) => {
    const { ask, asked } = aWebhook([{ ...yes, code }])
    expect(await ask()).toEqual(failure(`the authorization webhook has answered ${code}`))
    expect(asked).toHaveLength(1)
  })

  test.each([200, 201, 299])('with %i is a decision', async (code) => {
    expect(await aWebhook([{ ...yes, code }]).ask()).toEqual({ kind: 'allow', reason: '' })
  })
})

describe('AUTHZ-07: a failed attempt', () => {
  /** Waits until all pending promises have settled. */
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  test.each([{ code: 500, body: '' }, { code: 429, body: '' }, new Error('no connection')])('is repeated: %o', async (failed) => {
    const { ask, asked, clock } = aWebhook([failed, failed, yes], { random: () => 0.5 })
    const answer = ask()
    await turn()
    // 500 ms with up to a tenth of jitter, and then half as long again.
    clock.advance(549)
    await turn()
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await turn()
    expect(asked).toHaveLength(2)
    clock.advance(824)
    await turn()
    expect(asked).toHaveLength(2)
    clock.advance(1)
    expect(await answer).toEqual({ kind: 'allow', reason: '' })
    expect(asked).toHaveLength(3)
  })

  test('is repeated a few times, and then reported', async () => {
    const { ask, asked, clock } = aWebhook([new Error('no connection')])
    const answer = ask()
    for (let attempt = 0; attempt < 10; attempt++) {
      await turn()
      clock.advance(60_000)
    }
    expect(await answer).toEqual({ kind: 'noOpinion', reason: '', error: 'no connection' })
    expect(asked).toHaveLength(limits.accessAttemptsMax)
    expect(limits.accessAttemptsMax).toBe(5)
  })
})

describe('AUTHZ-07: the cache', () => {
  test.each([
    ['a yes', yes, 1_000],
    ['a no', no, 100],
  ])('keeps %s for its configured time', async (_name, answer, ttlMs) => {
    const { ask, asked, clock } = aWebhook([answer])
    await ask()
    clock.advance(ttlMs - 1)
    expect(await ask()).toEqual(await ask())
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await ask()
    expect(asked).toHaveLength(2)
  })

  test.each([
    ['a yes', yes, { authorizedTtlMs: 0 }],
    ['a no', no, { unauthorizedTtlMs: 0 }],
    ['a failure', { code: 400, body: '' }, {}],
  ])('does not keep %s without a configured time', async (_name, answer, options) => {
    const { ask, asked } = aWebhook([answer], options)
    await ask()
    await ask()
    expect(asked).toHaveLength(2)
  })

  test('keeps a decision for one user and access only', async () => {
    const { ask, asked } = aWebhook([yes])
    await ask()
    await ask(path('/b'))
    await ask(path('/a'), { ...jane, name: 'joe' })
    await ask(path('/a'), { ...jane, groups: ['g'] })
    expect(asked).toHaveLength(4)
  })

  test('LIM-12: does not keep a request longer than the limit', async () => {
    const { ask, asked } = aWebhook([yes])
    await ask(path(''))
    const longest = path('x'.repeat(limits.accessQuestionLengthMax - (asked[0]?.length ?? 0)))
    await ask(longest)
    await ask(longest)
    expect(asked).toHaveLength(2)
    const tooLong = path('x'.repeat(limits.accessQuestionLengthMax - (asked[0]?.length ?? 0) + 1))
    await ask(tooLong)
    await ask(tooLong)
    expect(asked).toHaveLength(4)
  })

  test('LIM-12: keeps only the newest decisions', async () => {
    const { ask, asked } = aWebhook([yes])
    for (let index = 0; index < limits.accessAnswersMax; index++) await ask(path(`/${index}`))
    await ask(path('/0'))
    expect(asked).toHaveLength(limits.accessAnswersMax)
    await ask(path('/more'))
    await ask(path('/1'))
    expect(asked).toHaveLength(limits.accessAnswersMax + 1)
    await ask(path('/0'))
    expect(asked).toHaveLength(limits.accessAnswersMax + 2)
  })
})

test('AUTHZ-07: equal requests at the same time share one answer', async () => {
  const { ask, asked } = aWebhook([no], { unauthorizedTtlMs: 0 })
  await Promise.all([ask(), ask(), ask(path('/b'))])
  expect(asked).toHaveLength(2)
  await ask()
  expect(asked).toHaveLength(3)
})

test('VIRT-05: rules of a webhook cannot be listed', () => {
  expect(aWebhook([yes]).authorizer.rulesOf(jane, '')).toEqual({
    rules: [],
    isIncomplete: true,
    error: 'webhook authorizer does not support user rule resolution',
  })
})

describe('AZC-07: the failure policy', () => {
  test.each([
    ['NoOpinion', 'noOpinion'],
    ['Deny', 'deny'],
    [undefined, 'noOpinion'],
  ] as const)('%s decides if there is no answer', async (failurePolicy, kind) => {
    const { ask } = aWebhook([{ code: 400, body: '' }], failurePolicy === undefined ? {} : { failurePolicy })
    expect(await ask()).toMatchObject({ kind, error: 'the authorization webhook has answered 400' })
  })

  test('does not change a decision', async () => {
    const { ask } = aWebhook([no], { failurePolicy: 'Deny' })
    expect(await ask()).toMatchObject({ kind: 'noOpinion' })
  })
})

describe('AZC-09, AZC-13: conditions', () => {
  const conditionsOf = (...texts: readonly string[]) =>
    texts.map((text) => {
      const compiled = compileAccessCondition(text)
      if (compiled.kind === 'malformed') throw new Error(compiled.problem)
      return compiled
    })
  const pods: Access = {
    ...{ kind: 'resource', verb: 'get', group: '', version: 'v1', namespace: 'n', resource: 'pods', subresource: '', name: '' },
  }
  const failing = "request.resourceAttributes.namespace == 'n'"

  test.each<[string, Access, boolean]>([
    ["has(request.resourceAttributes) && request.resourceAttributes.group == ''", pods, true],
    ['has(request.resourceAttributes)', path('/a'), false],
    ['has(request.resourceAttributes.labelSelector)', pods, false],
    [
      "request.resourceAttributes.labelSelector.requirements.exists(r, r.key == 'a' && r.operator == 'In' && '1' in r.values)",
      { ...pods, verb: 'list', selectors: { field: '', label: 'a=1' } },
      true,
    ],
    [
      "request.resourceAttributes.fieldSelector.requirements.exists(r, r.key == 'spec.nodeName' && r.values == ['n1'])",
      { ...pods, verb: 'list', selectors: { field: 'spec.nodeName=n2', label: '' } },
      false,
    ],
    ["has(request.nonResourceAttributes) && request.nonResourceAttributes.path.startsWith('/a')", path('/a'), true],
    ["request.user == 'jane' && request.groups == [] && request.uid == '' && request.extra == {}", pods, true],
    ["request.user == 'john'", pods, false],
    ["!('system:serviceaccounts' in request.groups)", pods, true],
  ])('%s', async (text, access, isAsked) => {
    const { ask, asked } = aWebhook([yes], { conditions: conditionsOf(text) })
    expect((await ask(access)).kind).toBe(isAsked ? 'allow' : 'noOpinion')
    expect(asked).toHaveLength(isAsked ? 1 : 0)
  })

  test.each(['NoOpinion', 'Deny'] as const)(
    'a false condition skips the webhook, even beside a condition that fails; policy %s',
    async (failurePolicy) => {
      const { ask, asked } = aWebhook([yes], { conditions: conditionsOf(failing, 'false'), failurePolicy })
      expect(await ask()).toEqual({ kind: 'noOpinion', reason: '' })
      expect(asked).toEqual([])
    },
  )

  test.each([
    ['NoOpinion', 'noOpinion'],
    ['Deny', 'deny'],
  ] as const)('a condition that cannot be evaluated follows the policy %s', async (failurePolicy, kind) => {
    const { ask, asked } = aWebhook([yes], { conditions: conditionsOf('true', failing), failurePolicy })
    expect(await ask()).toEqual({ kind, reason: '', error: expect.stringContaining('no such key: resourceAttributes') })
    expect(asked).toEqual([])
  })

  test('that take long are evaluated with other work in between', async () => {
    const order: string[] = []
    const [condition] = conditionsOf('true')
    if (condition === undefined) throw new Error('no condition')
    const long = (name: string) => ({
      ...condition,
      evaluate() {
        for (const startMs = performance.now(); performance.now() - startMs < 20; );
        order.push(name)
        return { kind: 'value', value: true } as const
      },
    })
    setImmediate(() => order.push('other work'))
    await aWebhook([yes], { conditions: [long('first'), long('second')] }).ask()
    expect(order).toEqual(['first', 'other work', 'second'])
  })
})

describe('AZC-13: selectors in the request', () => {
  const resource = { namespace: 'n', group: '', version: 'v1', resource: 'pods', subresource: '', name: '' }
  const withSelectors = (field: string, label: string): Access => ({
    ...{ kind: 'resource', verb: 'list', ...resource, selectors: { field, label } },
  })

  test.each([
    [
      'spec.nodeName=a,status.phase!=Failed',
      '',
      {
        fieldSelector: {
          requirements: [
            { key: 'spec.nodeName', operator: 'In', values: ['a'] },
            { key: 'status.phase', operator: 'NotIn', values: ['Failed'] },
          ],
        },
      },
    ],
    [
      '',
      'a,b=1,c!=2,!d',
      {
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'Exists' },
            { key: 'b', operator: 'In', values: ['1'] },
            { key: 'c', operator: 'NotIn', values: ['2'] },
            { key: 'd', operator: 'DoesNotExist' },
          ],
        },
      },
    ],
    ['', 'a>1', {}],
    ['a', 'b=(', {}],
  ])('become requirements of the review: %j, %j', async (field, label, expected) => {
    const { ask, asked } = aWebhook([yes])
    await ask(withSelectors(field, label))
    const { resourceAttributes } = JSON.parse(asked[0] ?? '').spec
    expect(resourceAttributes).toEqual({ verb: 'list', namespace: 'n', version: 'v1', resource: 'pods', ...expected })
  })

  test('the answer about one selector is not used for another selector, or without one', async () => {
    const { ask, asked } = aWebhook([yes, no])
    expect((await ask(withSelectors('', 'a=1'))).kind).toBe('allow')
    expect((await ask(withSelectors('', 'a=2'))).kind).toBe('noOpinion')
    expect((await ask(withSelectors('', ''))).kind).toBe('noOpinion')
    expect((await ask(withSelectors('', 'a=1'))).kind).toBe('allow')
    expect(asked).toHaveLength(3)
  })
})

describe('the metrics count', () => {
  const linesOf = async (metrics: Metrics, name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`apiserver_authorization_${name}{`))
  const counting = () => {
    const metrics = createMetrics({ process: false })
    return { metrics, counted: createAuthorizationMetrics(metrics).webhook('w') }
  }

  test('answers, and decisions each time they are used', async () => {
    const { metrics, counted } = counting()
    const { authorizer } = aWebhook([yes], { counted })
    for (let index = 0; index < 2; index++) expect((await decide([authorizer], jane, path('/a'))).kind).toBe('allow')
    expect(await linesOf(metrics, 'webhook_evaluations_total')).toEqual([
      'apiserver_authorization_webhook_evaluations_total{name="w",result="success"} 1',
    ])
    expect(await linesOf(metrics, 'webhook_duration_seconds_count')).toEqual([
      'apiserver_authorization_webhook_duration_seconds_count{name="w",result="success"} 1',
    ])
    expect((await linesOf(metrics, 'decisions_total')).filter((line) => line.endsWith(' 2'))).toEqual([
      'apiserver_authorization_decisions_total{type="Webhook",name="w",decision="allowed"} 2',
    ])
    expect(await linesOf(metrics, 'webhook_evaluations_fail_open_total')).toEqual([])
  })

  test.each([
    ['NoOpinion', ['apiserver_authorization_webhook_evaluations_fail_open_total{name="w",result="error"} 1']],
    ['Deny', []],
  ] as const)('failures with the policy %s', async (failurePolicy, open) => {
    const { metrics, counted } = counting()
    await aWebhook([{ code: 400, body: '' }], { counted, failurePolicy }).ask()
    expect(await linesOf(metrics, 'webhook_evaluations_total')).toEqual([
      'apiserver_authorization_webhook_evaluations_total{name="w",result="error"} 1',
    ])
    expect(await linesOf(metrics, 'webhook_evaluations_fail_open_total')).toEqual(open)
  })

  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError')
  const broken = new Error('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ETIMEDOUT' }) })

  test.each([
    ['504', { code: 504, body: '' }, 'timeout'],
    ['503', { code: 503, body: '' }, 'error'],
    ['a connection that is refused', new Error('connect ECONNREFUSED'), 'error'],
  ])('each attempt: %s', async (_name, failure, result) => {
    const { metrics, counted } = counting()
    const { ask, asked, clock } = aWebhook([failure, yes], { counted })
    const decided = ask()
    await vi.waitFor(() => expect(clock.pendingTimers).toBe(1))
    clock.advance(10_000)
    expect([(await decided).kind, asked.length]).toEqual(['allow', 2])
    const line = (of: string) => `apiserver_authorization_webhook_evaluations_total{name="w",result="${of}"} 1`
    expect(new Set(await linesOf(metrics, 'webhook_evaluations_total'))).toEqual(new Set([line(result), line('success')]))
    expect(await linesOf(metrics, 'webhook_evaluations_fail_open_total')).toEqual([])
  })

  test.each([
    ['that does not answer', late],
    ['without a connection', broken],
  ])('AUTHZ-07: a webhook %s in time is asked once, with the result timeout', async (_name, failure) => {
    const { metrics, counted } = counting()
    const { ask, asked } = aWebhook([failure, yes], { counted })
    expect([(await ask()).kind, asked.length]).toEqual(['noOpinion', 1])
    expect(await linesOf(metrics, 'webhook_evaluations_fail_open_total')).toEqual([
      'apiserver_authorization_webhook_evaluations_fail_open_total{name="w",result="timeout"} 1',
    ])
    expect(await linesOf(metrics, 'webhook_duration_seconds_count')).toEqual([
      'apiserver_authorization_webhook_duration_seconds_count{name="w",result="timeout"} 1',
    ])
  })

  test.each([
    ['true', 1, [], []],
    ['false', 1, [1], []],
    ['1 / 0 == 1', 1, [], [1]],
  ] as const)('evaluations of the condition %s', async (text, evaluated, excluded, failed) => {
    const { metrics, counted } = counting()
    const compiled = compileAccessCondition(text)
    if (!('evaluate' in compiled)) throw new Error('the condition does not compile')
    await aWebhook([yes], { counted, conditions: [compiled] }).ask()
    const values = async (name: string) => (await linesOf(metrics, `match_condition_${name}`)).map((line) => Number(line.split(' ').at(-1)))
    expect(await values('evaluation_seconds_count')).toEqual([evaluated])
    expect(await values('exclusions_total')).toEqual(excluded)
    expect(await values('evaluation_errors_total')).toEqual(failed)
  })

  test('the duration of conditions does not contain other work', async () => {
    const { metrics, counted } = counting()
    const compiled = compileAccessCondition('true')
    if (!('evaluate' in compiled)) throw new Error('the condition does not compile')
    const evaluate = () => {
      for (const startMs = performance.now(); performance.now() - startMs < 20; );
      return { kind: 'value', value: true } as const
    }
    const { ask, clock } = aWebhook([yes], { counted, conditions: [{ ...compiled, evaluate }] })
    setImmediate(() => void clock.advance(5_000))
    await ask()
    expect(await linesOf(metrics, 'match_condition_evaluation_seconds_sum')).toEqual([expect.stringMatching(/ 0$/)])
  })
})
