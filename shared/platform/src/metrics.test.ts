import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

test('counters, gauges and histograms are told in the text format, each server having its own', async () => {
  const first = createMetrics({ process: false })
  const second = createMetrics({ process: false })
  first.counter({ name: 'requests_total', help: 'Requests.', labels: ['verb'] }).inc({ verb: 'GET' }, 2)
  first.gauge({ name: 'open', help: 'Open.', collect: (gauge) => gauge.set(7) })
  first.histogram({ name: 'seconds', help: 'Seconds.', buckets: [1, 5] }).observe(3)
  const text = await first.text()
  expect(text).toContain('requests_total{verb="GET"} 2')
  expect(text).toContain('open 7')
  expect(text).toContain('seconds_bucket{le="5"} 1')
  expect(await second.text()).toBe('\n')
})
