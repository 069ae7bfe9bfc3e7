import { expect, test } from 'vitest'
import type { MetricRows } from './merged-metrics.ts'
import { createMetrics } from './metrics.ts'

/** Rows as they arrive from another thread. */
const sent = (rows: MetricRows[]): MetricRows[] => JSON.parse(JSON.stringify(rows))

test('the metrics of several threads are merged: counters are summed by labels, states take the maximum, and single-thread metrics are kept', async () => {
  const far = createMetrics({ process: false })
  const near = createMetrics({ process: false, others: async () => [sent(await far.rows())] })
  for (const [metrics, count] of [
    [near, 2],
    [far, 3],
  ] as const) {
    const requests = metrics.counter({ name: 'requests_total', help: 'Requests.', labels: ['verb', 'code'] })
    requests.inc(metrics === near ? { verb: 'get', code: '200' } : { code: '200', verb: 'get' }, count)
    metrics.gauge({ name: 'info', help: 'Info.', together: 'largest', collect: (gauge) => gauge.set(1) })
    metrics.gauge({ name: 'open', help: '[STABLE] Open.' }).set(count)
    metrics.histogram({ name: 'seconds', help: 'Seconds.', buckets: [1, 5] }).observe(count)
    metrics.keep({ name: 'kept_total', help: 'Kept.', type: 'counter', values: () => [{ labels: { of: 'a' }, value: count }] })
  }
  far.counter({ name: 'far_total', help: 'Far.' }).inc(7)
  const text = await near.text()
  expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('# TYPE'))).toEqual([
    '# HELP requests_total [ALPHA] Requests.',
    'requests_total{verb="get",code="200"} 5',
    '# HELP info [ALPHA] Info.',
    'info 1',
    '# HELP open [STABLE] Open.',
    'open 5',
    '# HELP seconds [ALPHA] Seconds.',
    'seconds_bucket{le="1"} 0',
    'seconds_bucket{le="5"} 2',
    'seconds_bucket{le="+Inf"} 2',
    'seconds_sum 5',
    'seconds_count 2',
    '# HELP kept_total [ALPHA] Kept.',
    'kept_total{of="a"} 5',
    '# HELP far_total [ALPHA] Far.',
    'far_total 7',
  ])
  expect((await near.bytes()).toString()).toBe(text)
  expect(await far.text()).toContain('requests_total{code="200",verb="get"} 3')
})

test('the text without other threads equals the registry’s', async () => {
  const metrics = createMetrics({ process: false, others: async () => [] })
  metrics.counter({ name: 'requests_total', help: 'Requests.' }).inc()
  expect(await metrics.text()).toBe(await metrics.registry.metrics())
})

test('LIM-12: other work runs while many values are merged', async () => {
  const kept = (metrics: ReturnType<typeof createMetrics>) =>
    metrics.keep({
      name: 'kept_total',
      help: 'Kept.',
      type: 'counter',
      values: () => Array.from({ length: 9_000 }, (_, index) => ({ labels: { of: `thing ${index}` }, value: 1 })),
    })
  const far = createMetrics({ process: false })
  kept(far)
  const rows = sent(await far.rows())
  const near = createMetrics({ process: false, others: async () => [rows] })
  kept(near)
  let turns = 0
  let isPrinted = false
  const count = () => {
    turns += 1
    if (!isPrinted) setImmediate(count)
  }
  setImmediate(count)
  const text = await near.text()
  isPrinted = true
  expect(text.match(/^kept_total\{.*\} 2$/gm)).toHaveLength(9_000)
  expect(turns).toBeGreaterThanOrEqual(12)
})
