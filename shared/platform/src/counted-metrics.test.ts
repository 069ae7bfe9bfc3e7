import { expect, test } from 'vitest'
import { CountedValues, createCountedHistogram, createTimedHistogram } from './counted-metrics.ts'
import { createMetrics } from './metrics.ts'

test('a histogram is printed like other histograms', async () => {
  const options = { name: 'seconds', help: 'Seconds.', buckets: [0.1, 1] }
  const [ours, others] = [createMetrics({ process: false }), createMetrics({ process: false })]
  const histogram = createCountedHistogram(ours, options)
  const series = [histogram.series({ type: 'a' }), histogram.series({ type: 'a' })]
  histogram.series({ type: 'never observed' })
  const plain = others.histogram({ ...options, labels: ['type'] })
  for (const [index, value] of [0.1, 0.5, 7].entries()) {
    series[index % 2]?.observe(value)
    plain.observe({ type: 'a' }, value)
  }
  expect(await ours.text()).toBe(await others.text())
})

test.each(['counter', 'gauge'] as const)('a %s is printed like any other', async (type) => {
  const options = { name: 'things', help: '[BETA] Things.' }
  const [ours, others] = [createMetrics({ process: false }), createMetrics({ process: false })]
  const numbers = new CountedValues({ ...options, type })
  ours.keep(numbers)
  numbers.series({ type: 'never counted' })
  const [a, b] = [numbers.series({ type: 'a', other: 'with "quotes"' }), numbers.series({ type: 'b', other: '' })]
  const plain = others[type]({ ...options, labels: ['type', 'other'] })
  for (const value of type === 'gauge' ? [2, -2] : [2, 3]) {
    a.add(value)
    plain.inc({ type: 'a', other: 'with "quotes"' }, value)
  }
  b.add(1)
  plain.inc({ type: 'b', other: '' }, 1)
  expect(await ours.text()).toBe(await others.text())
})

test('a histogram over time adds the duration of each value, up to the moment of printing', async () => {
  const metrics = createMetrics({ process: false })
  let nowMs = 10
  const use = createTimedHistogram(metrics, { name: 'use', help: 'Use.', buckets: [0, 0.5, 1] }, () => nowMs).series({ of: 'a' })
  nowMs += 2
  use.set(0.5)
  nowMs += 1
  use.set(0.5)
  nowMs += 2
  use.set(4)
  nowMs += 0.5
  const lines = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('use'))
  const expected = ['use_bucket{le="0",of="a"} 2000000', 'use_bucket{le="0.5",of="a"} 5000000', 'use_bucket{le="1",of="a"} 5000000']
  expect(await lines()).toEqual([
    ...expected,
    'use_bucket{le="+Inf",of="a"} 5500000',
    'use_sum{of="a"} 3500000',
    'use_count{of="a"} 5500000',
  ])
  nowMs += 0.5
  expect(await lines()).toEqual([
    ...expected,
    'use_bucket{le="+Inf",of="a"} 6000000',
    'use_sum{of="a"} 5500000',
    'use_count{of="a"} 6000000',
  ])
})
