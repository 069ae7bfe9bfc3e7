import { setImmediate } from 'node:timers/promises'
import type { Attributes } from '@orch/core/contracts'
import { createFakeClock, createTinyStorage, type FakeClock, someAttributes } from '@orch/testkit'
import { expect, test } from 'vitest'
import { defaultPluginSettings, type ReviewSender } from '../plugin.ts'
import { inquiry, pluginNeeds } from '../plugin-testing.ts'
import { imagePolicyWebhook } from './image-policy-webhook.ts'

const apiVersion = 'imagepolicy.orch.io/v1alpha1'
const answer = (status: object) => ({ code: 200, body: JSON.stringify({ kind: 'ImageReview', apiVersion, status }) })
const yes = answer({ allowed: true })
const no = answer({ allowed: false, reason: 'too old' })

const aPod = someAttributes({
  kind: 'Pod',
  resource: 'pods',
  object: {
    metadata: { name: 'a', annotations: { 'break.image-policy.orch.io/glass': 'yes', other: 'x' } },
    spec: { containers: [{ image: 'i:1' }], initContainers: [{ image: 'init:1' }], ephemeralContainers: [{ image: 'debug:1' }] },
  },
})

/** The plugin, and its sent requests. Answers are given in order; the last one is repeated. */
function open(answers: readonly (Awaited<ReturnType<ReviewSender>> | Error)[], policy: object = {}) {
  const sent: string[] = []
  const clock = createFakeClock()
  const send: ReviewSender = async (body) => {
    sent.push(body)
    const given = answers[Math.min(sent.length, answers.length) - 1] as (typeof answers)[number]
    if (given instanceof Error) throw given
    return given
  }
  const plugin = imagePolicyWebhook(
    pluginNeeds({
      storage: createTinyStorage(),
      clock,
      configuration: { value: { imagePolicy: { orchConfigFile: 'k', ...policy } }, file: 'a.yaml' },
      settings: { ...defaultPluginSettings, imageReviews: send },
    }),
  )
  const ask = async (attributes: Partial<Attributes> = {}) => await plugin.validate?.({ ...aPod, ...attributes }, inquiry)
  return { sent, clock, ask }
}

/** Advances the clock until the work is done. */
async function whileTimePasses<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isDone = false
  void work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    await setImmediate()
    clock.advance(100)
  }
  return await work
}

const refusalOf = (verdict: Awaited<ReturnType<ReturnType<typeof open>['ask']>>) => {
  return verdict?.kind === 'denied' ? verdict.error.status.message : undefined
}

test('the request contains images, the annotations for image policy, and the namespace', async () => {
  const { sent, ask } = open([yes])
  expect(refusalOf(await ask())).toBeUndefined()
  expect(sent.map((body) => JSON.parse(body))).toEqual([
    {
      kind: 'ImageReview',
      apiVersion,
      metadata: { creationTimestamp: null },
      spec: {
        containers: [{ image: 'i:1' }, { image: 'init:1' }],
        annotations: { 'break.image-policy.orch.io/glass': 'yes' },
        namespace: 'team',
      },
      status: { allowed: false },
    },
  ])
})

test('the request for containers added to a running pod contains only their images', async () => {
  const { sent, ask } = open([yes])
  await ask({ subresource: 'ephemeralcontainers' })
  expect(JSON.parse(sent[0] ?? '')).toMatchObject({ spec: { containers: [{ image: 'debug:1' }] } })
})

test.each([
  [no, 'pods "a" is forbidden: image policy webhook backend denied one or more images: too old'],
  [answer({ allowed: false }), 'pods "a" is forbidden: one or more images rejected by webhook backend'],
  [answer({}), 'pods "a" is forbidden: one or more images rejected by webhook backend'],
  [{ code: 403, body: '' }, 'pods "a" is forbidden: Error contacting webhook: 403'],
  [
    { code: 200, body: '{"kind":"Other"}' },
    `pods "a" is forbidden: the webhook has answered something else than an ImageReview of ${apiVersion}`,
  ],
  [answer({ allowed: 'yes' }), 'pods "a" is forbidden: the webhook has answered with a status that cannot be read'],
])('the answer %j refuses the pod', async (given, message) => {
  expect(refusalOf(await open([given]).ask())).toBe(message)
})

test('audit annotations of the answer are recorded in the audit log', async () => {
  const { ask } = open([answer({ allowed: true, auditAnnotations: { why: 'signed' } })])
  expect(await ask()).toMatchObject({
    auditAnnotations: [{ key: 'imagepolicywebhook.image-policy.orch.io/why', value: 'signed', level: 'Metadata' }],
  })
})

test('approvals and refusals are cached for the configured times', async () => {
  const { sent, clock, ask } = open([no, yes], { allowTTL: 60, denyTTL: 10 })
  await ask()
  clock.advance(9_000)
  expect(refusalOf(await ask())).toContain('too old')
  clock.advance(2_000)
  expect(refusalOf(await ask())).toBeUndefined()
  clock.advance(59_000)
  await ask()
  expect(sent).toHaveLength(2)
  clock.advance(2_000)
  await ask()
  expect(sent).toHaveLength(3)
})

test('a refusal that is not cached replaces an approval that arrived while it was asked for', async () => {
  const { sent, ask } = open([yes, no], { denyTTL: -1 })
  const [first, second] = await Promise.all([ask(), ask()])
  expect([refusalOf(first), refusalOf(second)]).toEqual([undefined, expect.stringContaining('too old')])
  await ask()
  expect(sent).toHaveLength(3)
})

test('a request that differs is not answered from the cache', async () => {
  const { sent, ask } = open([yes])
  await ask()
  await ask({ namespace: 'other' })
  expect(sent).toHaveLength(2)
})

test('images are refused without an answer after several attempts', async () => {
  const { sent, clock, ask } = open([new Error('connection refused')])
  expect(refusalOf(await whileTimePasses(clock, ask()))).toBe('pods "a" is forbidden: connection refused')
  expect(sent).toHaveLength(5)
})

test('a pod is allowed after attempts that failed', async () => {
  const { sent, clock, ask } = open([{ code: 503, body: '' }, { code: 429, body: '' }, yes])
  expect(refusalOf(await whileTimePasses(clock, ask()))).toBeUndefined()
  expect(sent).toHaveLength(3)
})

test('images are allowed while the backend is unreachable if the configuration says so, and the audit log records it', async () => {
  const { ask } = open([{ code: 400, body: '' }], { defaultAllow: true })
  expect(await ask()).toMatchObject({
    kind: 'allowed',
    auditAnnotations: [{ key: 'imagepolicywebhook.image-policy.orch.io/failed-open', value: 'true' }],
  })
})
