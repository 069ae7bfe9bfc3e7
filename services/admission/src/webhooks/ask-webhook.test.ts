import { randomUUID } from 'node:crypto'
import { createCatalogue } from '@orch/core/catalogue'
import type { Attributes } from '@orch/core/contracts'
import { type SpanOptions, silentLog, type Tracer } from '@orch/platform'
import type { Call, CallAnswer } from '@orch/platform/webhooks'
import { createFakeClock, someAttributes } from '@orch/testkit'
import { expect, test } from 'vitest'
import { equivalentsOf } from '../matching/equivalents.ts'
import { askWebhook, countsOf, denial, errorOf, type WebhookQuestion } from './ask-webhook.ts'
import { readWebhooks, type Webhook } from './webhook.ts'

const catalogue = createCatalogue('orch')

const attributes = someAttributes()

function aQuestion(webhook: object, more: Partial<Attributes> = {}, remainingMs = 60_000): WebhookQuestion {
  const fields = {
    name: 'a.example.com',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    clientConfig: { url: 'https://a' },
    ...webhook,
  }
  const [read] = readWebhooks({
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.orch.io/v1',
    metadata: { name: 'c' },
    webhooks: [fields],
  })
  const own = equivalentsOf(catalogue).own(attributes)
  const deadline = { remainingMs: () => remainingMs, signal: undefined }
  const all = { ...attributes, ...more }
  return {
    webhook: read as Webhook,
    isMutating: false,
    attributes: all,
    asVersion: own,
    own,
    object: all.object,
    oldObject: undefined,
    deadline,
    traceparent: undefined,
  }
}

async function ask(question: WebhookQuestion, answer?: CallAnswer, tracer?: Tracer) {
  const calls: { timeoutMs: number; uid: string; traceparent: string | undefined }[] = []
  const call = async ({ body, timeoutMs, traceparent }: Call): Promise<CallAnswer> => {
    const { uid } = JSON.parse(body).request
    calls.push({ timeoutMs, uid, traceparent })
    const text = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.orch.io/v1', response: { uid, allowed: true } })
    return answer ?? { kind: 'answered', text }
  }
  const caller = { call, close: () => {} }
  const outcome = await askWebhook(question, {
    caller,
    names: catalogue.names,
    clock: createFakeClock(),
    reviewUid: randomUUID,
    log: silentLog,
    tracer,
  })
  return { outcome, calls }
}

test.each(['Some', 'Unknown'])(
  'ADM-FLOW-12, DRY-12, ERR-14, ADM-WH-48: a dry run fails where an old configuration says %s',
  async (sideEffects) => {
    const { outcome, calls } = await ask(aQuestion({ sideEffects }, { dryRun: true }))
    expect(outcome).toMatchObject({
      kind: 'impossible',
      error: { status: { code: 400, message: 'admission webhook "a.example.com" does not support dry run' } },
    })
    expect(calls).toEqual([])
    expect((await ask(aQuestion({ sideEffects }))).outcome.kind).toBe('allowed')
  },
)

test('ADM-WH-47: a call without a version that can be sent fails, and follows the failure policy', async () => {
  const question = aQuestion({ admissionReviewVersions: ['v7'], failurePolicy: 'Ignore' })
  const { outcome } = await ask(question)
  expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('known AdmissionReview versions') })
  expect(errorOf(question, outcome)).toBeUndefined()
  expect(errorOf(aQuestion({ admissionReviewVersions: ['v7'] }), outcome)).toMatchObject({ code: 500 })
})

test('ADM-WH-12: a call may take the timeout of the webhook, and never more than the rest of the request', async () => {
  const times = async (webhook: object, remainingMs?: number) => (await ask(aQuestion(webhook, {}, remainingMs))).calls[0]?.timeoutMs
  expect(await times({})).toBe(10_000)
  expect(await times({ timeoutSeconds: 30 })).toBe(30_000)
  expect(await times({ timeoutSeconds: 30 }, 1_500)).toBe(1_500)
})

test('METRIC-08, METRIC-09: a failed call is counted with the code of the answer, 400 without one, at most 600', async () => {
  const codeOf = async (code: number | undefined) => {
    const question = aQuestion({})
    const { outcome } = await ask(question, { kind: 'failed', message: '', code, isLate: false })
    return countsOf(question, outcome).find(({ name }) => name.endsWith('rejection_count'))?.labels['rejection_code']
  }
  expect([await codeOf(undefined), await codeOf(503), await codeOf(700)]).toEqual(['400', '503', '600'])
})

test('METRIC-09: a refusal with a code outside HTTP is answered with 500 and counted with 600', async () => {
  const question = aQuestion({})
  const review = { isAllowed: false, status: { code: 1000 }, patch: '', patchType: '', warnings: [], auditAnnotations: {} }
  const error = denial('a.example.com', review.status)
  expect(error.code).toBe(500)
  const [, rejection] = countsOf(question, { kind: 'denied', review, error })
  expect(rejection?.labels).toMatchObject({ error_type: 'no_error', rejection_code: '600' })
})

test('a refusal keeps its details, and null members are ignored', () => {
  const status = { code: 422, message: null, reason: 'Invalid', details: { causes: [{ field: 'a' }] } } as never
  expect(denial('a.b.c', status).status).toMatchObject({
    code: 422,
    reason: 'Invalid',
    message: 'admission webhook "a.b.c" denied the request: Invalid',
    details: { causes: [{ field: 'a' }] },
  })
})

test("the span of a call is a child of the plugin's span, and the webhook receives its id", async () => {
  const spans: (SpanOptions & { name: string; isFailed: boolean; isEnded: boolean })[] = []
  const start: Tracer['start'] = (name, options) => {
    const record = { name, ...options, isFailed: false, isEnded: false }
    spans.push(record)
    const fail = () => Object.assign(record, { isFailed: true })
    const end = () => Object.assign(record, { isEnded: true })
    return { traceparent: 'of the span', rename: () => {}, attribute: () => {}, fail, end }
  }
  const question = { ...aQuestion({}), traceparent: 'of the plugin' }
  const { calls } = await ask(question, undefined, { start })
  await ask(question, { kind: 'failed', message: '', code: 503, isLate: false }, { start })
  await ask(aQuestion({}), undefined, { start })
  const span = { name: 'call webhook a.example.com', kind: 'client', parent: 'of the plugin', isEnded: true }
  expect(spans).toEqual([
    { ...span, isFailed: false },
    { ...span, isFailed: true },
  ])
  expect(calls[0]?.traceparent).toBe('of the span')
})
