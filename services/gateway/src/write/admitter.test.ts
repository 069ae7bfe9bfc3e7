import type {
  AdmissionAnswer,
  AdmissionRequest,
  AdmissionRule,
  AdmissionRulesPart,
  AdmissionService,
  Attributes,
} from '@orch/core/contracts'
import { createMetrics, PushStream, silentLog } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test, vi } from 'vitest'
import { createAdmissionMetrics } from '../admission/admission-metrics.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { limits } from '../limits.ts'
import type { GatewayRequest } from '../request/request.ts'
import { createAdmitter } from './admission.ts'

const pods: AdmissionRule = { phase: '*', operations: ['CREATE'], groups: [''], resources: ['pods'], namespaces: [] }
const condition = { key: 'core/namespaces/team', revision: 7 }
const step = { plugin: 'P', webhook: '', durationMs: 2, isRejected: false, round: 0, patch: undefined, reason: undefined }
const nothingTold = { warnings: [], auditAnnotations: [], steps: [], counts: [] }
const allowed = { ...nothingTold, kind: 'allowed', object: undefined, conditions: [], reservations: [], validated: undefined } as const
const ahead = {
  ...nothingTold,
  conditions: [condition],
  warnings: ['w'],
  steps: [step],
  auditAnnotations: [{ key: 'k', value: 'v', level: 'Metadata' }],
}

/** An admitter that has received the admission rules, with its calls and reports. */
async function anAdmitter(
  mutating: AdmissionAnswer = { ...allowed, validated: ahead },
  {
    first,
    validating = allowed,
    authorizers = [],
    isOwn = false,
  }: { first?: AdmissionAnswer; validating?: AdmissionAnswer; authorizers?: Authorizer[]; isOwn?: boolean } = {},
) {
  const clock = createFakeClock()
  const parts = new PushStream<AdmissionRulesPart>({})
  const asked: string[] = []
  const told: unknown[] = []
  const admission: AdmissionService = {
    admit: async ({ phase, decisions }: AdmissionRequest) => {
      asked.push(phase)
      clock.advance(5)
      if (first !== undefined && decisions.length === 0) return first
      return phase === 'mutate' ? mutating : validating
    },
    outcome: async () => ({}),
    admissionRules: (_request, context) => {
      context?.signal?.addEventListener('abort', () => parts.close(), { once: true })
      return parts
    },
  }
  const metrics = createMetrics({ process: false })
  const admissionMetrics = createAdmissionMetrics(metrics, { clock, log: silentLog })
  const admitter = createAdmitter({
    ...{ admission, isOwn, clock, log: silentLog, metrics: admissionMetrics },
    authorizers,
    provideNamespace: async () => {},
  })
  let revision = 0
  const streamAdmissionRules = async (admissionRules: readonly AdmissionRule[]) => {
    revision += 1
    parts.push({ kind: 'admissionRules', admissionRules, revision, sources: [{ resource: 'x', revision }] })
    const inForce = () => admitter.settle({ writeId: 'w', reservations: [], resource: 'x', revision })
    await vi.waitFor(() => expect(inForce()).toBeDefined(), { timeout: 90_000 })
    await inForce()
  }
  await streamAdmissionRules([pods])
  const request = {
    deadlineMs: 60_000,
    waitedMs: 0,
    user: { name: 'jane', groups: [], uid: '', extra: {} },
    auditId: 'a',
    warn: (text: string) => told.push(text),
    annotate: (key: string, value: string) => told.push([key, value]),
  } as unknown as GatewayRequest
  const place = { operation: 'CREATE', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'team' }
  const admitting = { request, attributes: { ...place, writeId: 'w' } as Attributes }
  return { admitter, admitting, asked, told, clock, metrics, streamAdmissionRules, parts }
}

test('a server whose admission opens with the first write is ready before it, and while the rules are awaited', async () => {
  const { admitting, clock } = await anAdmitter()
  const parts = new PushStream<AdmissionRulesPart>({})
  const admission: AdmissionService = { admit: async () => allowed, outcome: async () => ({}), admissionRules: () => parts }
  const metrics = createAdmissionMetrics(createMetrics({ process: false }), { clock, log: silentLog })
  const provideNamespace = async () => {}
  const admitter = createAdmitter({ admission, isLate: true, authorizers: [], provideNamespace, metrics, clock, log: silentLog })
  const isReady = [admitter.hasRules]
  await admitter.mutate(admitting)
  expect([...isReady, admitter.hasRules]).toEqual([true, true])
  admitter.close()
  parts.close()
})

test('the early verdict of validation is reported when validation would have been called, and not before', async () => {
  const { admitter, admitting, asked, told, metrics } = await anAdmitter()
  const mutation = await admitter.mutate(admitting)
  expect(told).toEqual([])
  expect(await admitter.validate(admitting, mutation)).toEqual({ object: undefined, conditions: [condition], reservations: [] })
  expect(told).toEqual(['w', ['k', 'v']])
  expect(asked).toEqual(['mutate'])
  const text = await metrics.text()
  const labels = 'operation="CREATE",rejected="false"'
  expect(text).toContain(`apiserver_admission_step_admission_duration_seconds_count{type="validate",${labels}} 1`)
  expect(text).toContain(`apiserver_admission_step_admission_duration_seconds_sum{type="validate",${labels}} 0.002`)
  // The time of validating does not count for mutating.
  expect(text).toContain(`apiserver_admission_step_admission_duration_seconds_sum{type="admit",${labels}} 0.003`)
  expect(text).toContain(`apiserver_admission_controller_admission_duration_seconds_count{name="P",type="validate",${labels}} 1`)
  admitter.close()
})

test('validation is called without an early verdict, or without a call of mutating admission', async () => {
  const { admitter, admitting, asked, streamAdmissionRules } = await anAdmitter(allowed)
  await admitter.validate(admitting, await admitter.mutate(admitting))
  expect(asked).toEqual(['mutate', 'validate'])
  await streamAdmissionRules([{ ...pods, phase: 'validate' }])
  const mutation = await admitter.mutate(admitting)
  expect(mutation).toBeUndefined()
  await admitter.validate(admitting, mutation)
  expect(asked).toEqual(['mutate', 'validate', 'validate'])
  admitter.close()
})

test('validation is called when the admission rules have changed since, as another plugin may match', async () => {
  const { admitter, admitting, asked, told, streamAdmissionRules } = await anAdmitter()
  const mutation = await admitter.mutate(admitting)
  await streamAdmissionRules([pods, { ...pods, phase: 'validate', resources: ['*'] }])
  await admitter.validate(admitting, mutation)
  expect(told).toEqual([])
  expect(asked).toEqual(['mutate', 'validate'])
  await admitter.validate(admitting, await admitter.mutate(admitting))
  expect(told).toEqual(['w', ['k', 'v']])
  expect(asked).toEqual(['mutate', 'validate', 'mutate'])
  admitter.close()
})

test('unchanged admission rules that arrive again do not affect an early verdict', async () => {
  const { admitter, admitting, asked, streamAdmissionRules } = await anAdmitter()
  const mutation = await admitter.mutate(admitting)
  await streamAdmissionRules([structuredClone(pods)])
  await admitter.validate(admitting, mutation)
  expect(asked).toEqual(['mutate'])
  admitter.close()
})

test('validation is called if the admission rules are too old to show a change', async () => {
  const { admitter, admitting, asked, clock } = await anAdmitter()
  const mutation = await admitter.mutate(admitting)
  clock.advance(limits.admissionRulesAgeMsMax + 1)
  await admitter.validate(admitting, mutation)
  expect(asked).toEqual(['mutate', 'validate'])
  await admitter.validate(admitting, await admitter.mutate(admitting))
  expect(asked).toEqual(['mutate', 'validate', 'mutate', 'validate'])
  admitter.close()
})

test('admission rules of this process count at any age until their stream ends', async () => {
  const { admitter, admitting, asked, clock, parts } = await anAdmitter(undefined, { isOwn: true })
  const mutation = await admitter.mutate(admitting)
  clock.advance(3_600_000)
  await admitter.validate(admitting, mutation)
  expect(asked).toEqual(['mutate'])
  parts.end()
  await vi.waitFor(() => expect(admitter.hasRules).toBe(false), { timeout: 90_000 })
  await admitter.validate(admitting, mutation)
  expect(asked).toEqual(['mutate', 'validate'])
  admitter.close()
})

test('the recorded wait is the time of all mutating webhooks and of the slowest validating webhook', async () => {
  const steps = [3, 9, 5].map((durationMs) => ({ ...step, webhook: `w${durationMs}`, durationMs })).concat({ ...step, durationMs: 100 })
  const answer = { ...allowed, steps }
  const { admitter, admitting, streamAdmissionRules } = await anAdmitter(answer, { validating: answer })
  const mutation = await admitter.mutate(admitting)
  expect(admitting.request.waitedMs).toBe(17)
  await streamAdmissionRules([{ ...pods, phase: 'validate' }])
  await admitter.validate(admitting, mutation)
  expect(admitting.request.waitedMs).toBe(17 + 9)
  admitter.close()
})

test('admission can ask whether the user, or an account, may act on an object or a path', async () => {
  const accesses = [
    { verb: 'use', group: 'policy', version: 'v1', resource: 'things', subresource: '', namespace: 'team', name: 'a' },
    { verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '', namespace: '', name: '', fieldSelector: 'f=1' },
    {
      verb: 'get',
      group: '',
      version: '',
      resource: '',
      subresource: '',
      namespace: '',
      name: '',
      path: '/metrics',
      account: 'team:default',
    },
  ]
  const first = {
    ...nothingTold,
    kind: 'asks',
    accesses,
    namespaces: [],
    conditions: [],
    reservations: [],
    resumeAt: 'P',
  } as AdmissionAnswer
  const questions: unknown[] = []
  const authorizer: Authorizer = {
    authorize: (user, access) => {
      questions.push([user, access])
      return { kind: 'allow', reason: '' }
    },
    rulesOf: () => ({ rules: [] }),
  }
  const { admitter, admitting, asked } = await anAdmitter(allowed, { first, authorizers: [authorizer] })
  await admitter.mutate(admitting)
  expect(asked).toEqual(['mutate', 'mutate'])
  const { user } = admitting.request
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:team']
  expect(questions).toEqual([
    [user, { kind: 'resource', ...accesses[0] }],
    [user, { kind: 'resource', ...accesses[1], selectors: { field: 'f=1', label: '' } }],
    [
      { name: 'system:serviceaccount:team:default', uid: '', groups, extra: {} },
      { kind: 'path', verb: 'get', path: '/metrics' },
    ],
  ])
  admitter.close()
})

test('a closed admitter drops the admission rules', async () => {
  const { admitter, parts } = await anAdmitter()
  expect(parts.ended).toBe(false)
  admitter.close()
  expect(parts.ended).toBe(true)
})
