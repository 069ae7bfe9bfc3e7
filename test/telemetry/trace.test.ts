import { silentLog } from '@orch/platform'
import { aConfigMap, createFakeClock } from '@orch/testkit'
import { findBackend } from '@orch/testkit/backends'
import { describe, expect, test } from 'vitest'
import { isTracingOn, openTelemetry } from '../../services/orch/src/telemetry/open.ts'
import { aHook } from '../admission/hooks.ts'
import { allowing, aWebhookServer } from '../admission/webhook-server.ts'
import type { Collector, ReceivedSpan } from './collector.ts'
import { expectCounts } from './expected-counts.ts'
import { printTrace } from './print-trace.ts'
import { clientSpan, createTraced, createUntilTraced, startTraced, traceId } from './traced-server.ts'

const missing = (await Promise.all([findBackend('etcd'), findBackend('nats-server')])).find(({ kind }) => kind === 'missing')
const reason = missing?.kind === 'missing' ? `[skipped: ${missing.reason}]` : ''

function childOf(collector: Collector, parent: ReceivedSpan, service: string, name: string): Promise<ReceivedSpan> {
  return collector.find((span) => span.service === service && span.name === name && span.parentSpanId === parent.spanId)
}

interface Line {
  readonly service?: string
  readonly msg?: string
  readonly call?: string
  readonly path?: string
  readonly requestId?: string
  readonly auditId?: string
  readonly traceId?: string
  readonly spanId?: string
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
}

describe.skipIf(missing !== undefined)(`services as processes ${reason}`, () => {
  test('CARD-13, CARD-14, CARD-20, CARD-21, CARD-22, EP-31: record a create and its event as one trace through every service, which their logs name beside the request, and count their work and the time of events', async () => {
    const { collector, server, configuration } = await startTraced([
      '--distributed',
      '--gateways=1',
      '--storages=2',
      '--watches=1',
      '--admissions=1',
      '--log-format=json',
      '--log-level=debug',
    ])
    const hook = await aWebhookServer(allowing)
    const hooks = server.client.resource({
      ...{ group: 'admissionregistration.orch.io', version: 'v1', plural: 'mutatingwebhookconfigurations', namespaced: false },
    })
    await hooks.create({
      apiVersion: 'admissionregistration.orch.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'traced' },
      webhooks: [aHook(hook, 'default', { name: 'traced.example.com' })],
    })
    const maps = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
    const events = await maps.watch({ namespace: 'default', resourceVersion: '0' })
    const nextName = async () => {
      const { value, done } = await events.next()
      expect(done).toBe(false)
      return value?.object.metadata.name
    }
    const wanted = ['call webhook traced.example.com', 'publish a change', 'hand out a change', 'deliver a change']
    const { name: created, trace } = await createUntilTraced(collector, wanted, async (given) => {
      expect(await createTraced(configuration, server.url, { ...given, flags: '01' })).toBe(201)
      while ((await nextName()) !== given.name);
    })
    const inTrace = (service: string, name: string) => (span: ReceivedSpan) =>
      span.service === service && span.name === name && span.traceId === trace

    const root = await collector.find(inTrace('orch-gateway', 'create configmaps'))
    expect(root).toMatchObject({ parentSpanId: clientSpan, kind: 2 })
    expect(root.attributes).toMatchObject({
      'request.id': `id-of-${created}`,
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'http.route': '/api/v1/namespaces/{namespace}/configmaps',
      user: 'orch-admin',
    })

    const asked = await childOf(collector, root, 'orch-gateway', 'orch.storage.v1.Storage/Commit')
    const answered = await childOf(collector, asked, 'orch-storage', 'orch.storage.v1.Storage/Commit')
    const written = await childOf(collector, answered, 'orch-storage', 'etcd create')
    expect([asked.kind, answered.kind, written.kind]).toEqual([3, 2, 3])
    const admitting = await childOf(collector, root, 'orch-gateway', 'orch.admission.v1.Admission/Admit')
    await childOf(collector, admitting, 'orch-admission', 'orch.admission.v1.Admission/Admit')
    // Each plugin has a span below the call. Each webhook has a span below its plugin's span and receives its own span id.
    const called = await collector.find(inTrace('orch-admission', 'call webhook traced.example.com'))
    const plugin = await collector.find(({ spanId }) => spanId === called.parentSpanId)
    expect([plugin.name, called.kind]).toEqual(['mutate MutatingAdmissionWebhook', 3])
    const other = await collector.find(inTrace('orch-admission', 'mutate NamespaceLifecycle'))
    expect(other.parentSpanId).toBe(plugin.parentSpanId)
    const phase = await collector.find(({ spanId }) => spanId === plugin.parentSpanId)
    expect(phase).toMatchObject({ service: 'orch-admission', name: 'orch.admission.v1.Admission/Admit', traceId: trace })
    expect(hook.calls.map(({ headers }) => headers['traceparent'])).toContain(`00-${trace}-${called.spanId}-01`)

    await childOf(collector, root, 'orch-storage', 'publish a change')
    const handedOut = await childOf(collector, root, 'orch-watch', 'hand out a change')

    // A controller's request to the gateway begins a trace. If the gateway did not receive the request, the trace has no span of the gateway.
    const controllerRequests = () => collector.spans.filter(({ service, kind }) => service === 'orch-controllers' && kind === 3)
    const parentOf = ({ parentSpanId }: ReceivedSpan) => controllerRequests().find(({ spanId }) => spanId === parentSpanId)
    const received = await collector.find((span) => span.service === 'orch-gateway' && parentOf(span) !== undefined)
    const controlling = parentOf(received)
    expect(controlling).toMatchObject({
      parentSpanId: '',
      traceId: received.traceId,
      attributes: { 'http.request.method': controlling?.name },
    })

    await expectCounts(server, configuration)

    // The watch has a separate trace, which the delivery names. Controllers also watch, but in every namespace.
    await events.return?.(undefined)
    const { error: log } = await server.stop()
    const path = '/api/v1/namespaces/default/configmaps'
    const watched = await collector.find(({ name, attributes }) => name === 'watch configmaps' && attributes['url.path'] === path)
    expect(watched.traceId).not.toBe(trace)
    const delivered = await collector.find(
      ({ name, parentSpanId, links }) =>
        name === 'deliver a change' && parentSpanId === handedOut.spanId && links.some(({ spanId }) => spanId === watched.spanId),
    )
    expect(delivered.service).toBe('orch-gateway')
    expect(delivered.links.map(({ traceId, spanId }) => [traceId, spanId])).toEqual(
      expect.arrayContaining([
        [trace, handedOut.spanId],
        [watched.traceId, watched.spanId],
      ]),
    )

    const lines = linesOf(log).filter((line) => line.traceId === trace)
    const requests = lines.filter(({ service, msg }) => service === 'gateway' && msg === 'request')
    expect(requests).toMatchObject([{ auditId: `id-of-${created}`, path, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) }])
    const calls = lines.filter(({ msg }) => msg === 'call').map(({ service, call, requestId }) => ({ service, call, requestId }))
    expect(calls).toContainEqual({ service: 'storage', call: 'orch.storage.v1.Storage/Commit', requestId: `id-of-${created}` })
    expect(calls).toContainEqual({ service: 'admission', call: 'orch.admission.v1.Admission/Admit', requestId: `id-of-${created}` })
    if (process.env['PRINT_TRACE'] !== undefined) {
      for (const id of [trace, watched.traceId]) process.stderr.write(`\n${printTrace(collector.spans, id)}`)
    }
  })
})

test('CARD-22: an unsampled trace of the client creates no spans, a trace without a parent is sampled by the environment, and pending spans are sent when the server stops', async () => {
  const env = { OTEL_SERVICE_NAME: 'one-process', OTEL_BSP_SCHEDULE_DELAY: '600000' }
  const { collector, server, configuration } = await startTraced(['--memory'], env)
  expect(await createTraced(configuration, server.url, { name: 'unsampled', flags: '00' })).toBe(201)
  await server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true }).create(aConfigMap({ name: 'own' }))
  expect(await createTraced(configuration, server.url, { name: 'last', flags: '01' })).toBe(201)
  expect(await server.stop()).toMatchObject({ code: 0 })
  const own = collector.spans.find(
    ({ name, attributes, traceId: other }) =>
      name === 'create configmaps' && attributes['http.response.status_code'] === 201 && other !== traceId,
  )
  expect(own).toMatchObject({ service: 'one-process', parentSpanId: '' })
  const ofClient = collector.spans.filter(({ traceId: trace }) => trace === traceId)
  const ids = new Set(ofClient.map(({ spanId }) => spanId))
  const roots = ofClient.filter(({ parentSpanId }) => !ids.has(parentSpanId))
  expect(roots).toMatchObject([{ name: 'create configmaps', parentSpanId: clientSpan, attributes: { 'request.id': 'id-of-last' } }])
})

test.each([
  { name: 'OTEL_TRACES_EXPORTER', value: 'jaeger', expected: 'otlp, console, none' },
  { name: 'OTEL_TRACES_SAMPLER', value: 'sometimes', expected: 'always_on' },
  { name: 'OTEL_TRACES_SAMPLER_ARG', value: '2', expected: 'a number from 0 to 1' },
  { name: 'OTEL_EXPORTER_OTLP_PROTOCOL', value: 'smoke', expected: 'grpc' },
])('$name=$value is refused with the expected value', async ({ name, value, expected }) => {
  const opening = openTelemetry({ service: 'gateway', env: { [name]: value }, clock: createFakeClock(), log: silentLog })
  await expect(opening).rejects.toThrow(new RegExp(`^${name}: expected .*${expected}.*got`))
})

test.each([
  { env: {}, isOn: false },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, isOn: true },
  { env: { OTEL_TRACES_EXPORTER: 'console' }, isOn: true },
  { env: { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, isOn: false },
  { env: { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, isOn: false },
])('with $env tracing is on: $isOn', ({ env, isOn }) => {
  expect(isTracingOn(env)).toBe(isOn)
})
