import { randomUUID } from 'node:crypto'
import { namesOf } from '@orch/core/names'
import { runAtOnce } from '@orch/core/steps'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createMetrics } from '../metrics.ts'
import type { Call, CallAnswer } from '../webhooks/index.ts'
import { conversionMetricsOf } from './conversion-metrics.ts'
import { Converter, conversionsAtOnceMax } from './converter.ts'

const webhook = {
  definition: 'oaks.trees.io',
  clientConfig: { url: 'https://127.0.0.1:1/' },
  reviewVersions: ['v1'],
}
const oak = (name: string, apiVersion = 'trees.io/v1') => ({ apiVersion, kind: 'Oak', metadata: { name } })

/** A converter whose calls are answered by the test. */
function aConverter() {
  const clock = createFakeClock()
  const metrics = createMetrics({ process: false })
  const calls: { readonly call: Call; readonly answer: (answer: CallAnswer) => void }[] = []
  const caller = {
    call: (call: Call) => new Promise<CallAnswer>((answer) => calls.push({ call, answer })),
    close: () => {},
  }
  const names = namesOf('kubernetes')
  const converter = new Converter({
    reviewUid: randomUUID,
    caller,
    names,
    level: 25,
    clock,
    pace: { run: async (steps) => runAtOnce(steps) },
    metrics: conversionMetricsOf(metrics),
  })
  const convert = (name: string, timeoutMs = 60_000) =>
    converter.convert({
      webhook,
      desiredApiVersion: 'trees.io/v2',
      objects: [oak(name)],
      hasBigIntegers: false,
      context: { timeoutMs, traceparent: undefined },
    })
  /** Answers a call with converted objects, as the webhook should. */
  const succeed = (index: number) => {
    const { call, answer } = calls[index] ?? expect.fail(`call ${index} has not been made`)
    const { apiVersion, kind, request } = JSON.parse(call.body)
    const convertedObjects = request.objects.map((object: object) => ({ ...object, apiVersion: request.desiredAPIVersion }))
    const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects }
    answer({ kind: 'answered', text: JSON.stringify({ apiVersion, kind, response }) })
  }
  const printed = async () => Buffer.from(await metrics.bytes()).toString()
  return { clock, calls, convert, converter, succeed, printed }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('CRD-134: a call may take 30 s, or the rest of its request’s time', async () => {
  const { calls, convert } = aConverter()
  void convert('a')
  void convert('b', 4_000)
  await settled()
  expect(calls.map(({ call }) => call.timeoutMs)).toEqual([30_000, 4_000])
})

test('CRD-134: open calls of one definition have a bound; more calls wait in order, within their timeout', async () => {
  const { clock, calls, convert, succeed } = aConverter()
  const max = conversionsAtOnceMax
  const running = Array.from({ length: max }, (_, index) => convert(`running-${index}`))
  const hasty = convert('hasty', 1_000)
  const patient = convert('patient')
  await settled()
  expect(calls).toHaveLength(max)
  clock.advance(1_000)
  await expect(hasty).rejects.toThrow(`conversion webhook for trees.io/v1, Kind=Oak failed: ${max} calls of the webhook are pending`)
  succeed(0)
  await running[0]
  await settled()
  expect(calls).toHaveLength(max + 1)
  // The wait for other calls is part of the time limit.
  expect(calls[max]?.call.timeoutMs).toBe(29_000)
  succeed(max)
  expect((await patient).objects).toEqual([oak('patient', 'trees.io/v2')])
})

test('CRD-135: calls are counted by outcome, and by definition and versions', async () => {
  const { calls, convert, succeed, printed } = aConverter()
  const answers: readonly CallAnswer[] = [
    { kind: 'failed', message: 'no', code: undefined, isLate: false },
    { kind: 'answered', text: '{}' },
  ]
  for (const [index, given] of answers.entries()) {
    const failing = convert('a').catch(() => {})
    await settled()
    calls[index]?.answer(given)
    await failing
  }
  const converting = convert('a')
  await settled()
  succeed(answers.length)
  await converting
  const text = await printed()
  const total = 'apiserver_conversion_webhook_request_total'
  expect(text).toContain(`${total}{result="failure",failure_type="conversion_webhook_call_failure"} 1`)
  expect(text).toContain(`${total}{result="failure",failure_type="conversion_webhook_malformed_response_failure"} 1`)
  expect(text).toContain(`${total}{result="success",failure_type=""} 1`)
  const labels = 'crd_name="oaks.trees.io",from_version="v1",to_version="v2"'
  expect(text).toContain(`apiserver_crd_conversion_webhook_duration_seconds_count{${labels},succeeded="false"} 2`)
  expect(text).toContain(`apiserver_crd_conversion_webhook_duration_seconds_count{${labels},succeeded="true"} 1`)
})

test('CRD-127: objects in the wanted version are not sent, and without objects no call is made', async () => {
  const { calls, converter, succeed } = aConverter()
  const objects = [oak('a', 'trees.io/v2'), oak('b')]
  const given = { webhook, desiredApiVersion: 'trees.io/v2', hasBigIntegers: false, context: { traceparent: undefined } }
  expect(await converter.convert({ ...given, objects: objects.slice(0, 1) })).toMatchObject({ objects: [oak('a', 'trees.io/v2')] })
  expect(calls).toEqual([])
  const converting = converter.convert({ ...given, objects })
  await settled()
  expect(JSON.parse(calls[0]?.call.body ?? '').request.objects).toEqual([oak('b')])
  succeed(0)
  expect((await converting).objects).toEqual([oak('a', 'trees.io/v2'), oak('b', 'trees.io/v2')])
})
