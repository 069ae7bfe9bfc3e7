import type { SpanOptions, Tracer } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { deliver } from './delivery.ts'
import { linkedWatchesMax } from './limits.ts'

const request = {
  scope: { resource: 'apps/deployments' },
  selection: { labels: [], fields: [] },
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  format: { kind: 'json' },
  after: 0,
  epoch: '',
} as const

const traceparent = (span: number) => `00-0af7651916cd43dd8448eb211c80319c-${String(span).padStart(16, '0')}-01`

function open() {
  const spans: { options: SpanOptions; ended: boolean }[] = []
  const tracer: Tracer = {
    start(_name, options) {
      const span = { options, ended: false }
      spans.push(span)
      const end = () => {
        span.ended = true
      }
      return { traceparent: traceparent(99), rename: () => {}, attribute: () => {}, fail: () => {}, end }
    },
  }
  const clock = createFakeClock()
  const delays: number[] = []
  return { spans, clock, delays, following: { tracer, clock, onDelay: (delayMs: number) => void delays.push(delayMs) } }
}

test('CARD-22: each traced change has a child span, linked to it and to some of the watches, until its event is delivered', () => {
  const { spans, clock, following } = open()
  const clients = new Set(
    Array.from({ length: 20 }, (_, index) => ({ traceparent: index % 2 === 0 ? traceparent(index + 10) : undefined })),
  )
  const done = deliver({ committedMs: clock.now(), traceparents: [traceparent(1), traceparent(2)] }, request, clients, following)
  expect(spans.map(({ options: { parent, links } }) => [parent, links?.[0], links?.length])).toEqual([
    [traceparent(1), traceparent(1), 1 + linkedWatchesMax],
    [traceparent(2), traceparent(2), 1 + linkedWatchesMax],
  ])
  expect(spans[0]?.options.attributes).toEqual({ 'watch.resource': 'deployments.apps', 'watch.clients': 20 })
  expect(spans.map(({ ended }) => ended)).toEqual([false, false])
  done()
  expect(spans.map(({ ended }) => ended)).toEqual([true, true])
})

test('the time since the commit is recorded once, and is never negative', () => {
  const { clock, delays, following } = open()
  const clients = new Set([{ traceparent: undefined }, { traceparent: undefined }])
  const later = deliver({ committedMs: clock.now() - 30, traceparents: [] }, request, clients, following)
  clock.advance(12)
  later()
  deliver({ committedMs: clock.now() + 5, traceparents: [] }, request, clients, following)()
  expect(delays).toEqual([42, 0])
})

test('an event without a receiver has no delay', () => {
  const { clock, delays, following } = open()
  deliver({ committedMs: clock.now(), traceparents: [] }, request, new Set(), following)()
  expect(delays).toEqual([])
})
