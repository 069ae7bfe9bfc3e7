import { createMetrics } from '@orch/platform'
import { expect, test } from 'vitest'
import { createCountedHistogram } from './counted-histogram.ts'

test('a histogram is told as every other one', async () => {
  const options = { name: 'seconds', help: '[ALPHA] Seconds.', buckets: [0.1, 1] }
  const [ours, others] = [createMetrics({ process: false }), createMetrics({ process: false })]
  const counted = createCountedHistogram(ours, options).series({ type: 'a' })
  const plain = others.histogram({ ...options, labels: ['type'] })
  for (const value of [0.1, 0.5, 7]) {
    counted.observe(value)
    plain.observe({ type: 'a' }, value)
  }
  expect(await ours.text()).toBe(await others.text())
})
