import { expect, test } from 'vitest'
import { counter, declareMetrics, gauge, histogram, hotCounter, hotHistogram } from './metric-table.ts'
import { createMetrics } from './metrics.ts'

const table = {
  requests_total: counter('Requests.', ['verb']),
  open: gauge('Open.', ['kind'], { deprecatedFrom: '1.22' }),
  seconds: histogram('Seconds.', [1, 5]),
  hot_total: hotCounter('[ALPHA] Hot.', ['verb']),
  hot_seconds: hotHistogram('[ALPHA] Hot seconds.', [1]),
}

test('METRIC-15: a table declares each metric with its type, help, labels and deprecation; gauges are set at each scrape', async () => {
  const metrics = createMetrics({ process: false, releases: { current: '1.23', showsHidden: false } })
  let opened = 1
  const declared = declareMetrics(metrics, table, { open: (gauge) => gauge.set({ kind: 'watch' }, opened) })
  declared.requests_total.inc({ verb: 'GET' })
  declared.seconds.observe(3)
  declared.hot_total.series({ verb: 'LIST' }).add(2)
  declared.hot_seconds.series({}).observe(0.5)
  opened = 7
  expect((await metrics.text()).split('\n').filter((line) => line !== '')).toEqual([
    '# HELP requests_total [ALPHA] Requests.',
    '# TYPE requests_total counter',
    'requests_total{verb="GET"} 1',
    '# HELP open [ALPHA] (Deprecated from 1.22) Open.',
    '# TYPE open gauge',
    'open{kind="watch"} 7',
    '# HELP seconds [ALPHA] Seconds.',
    '# TYPE seconds histogram',
    'seconds_bucket{le="1"} 0',
    'seconds_bucket{le="5"} 1',
    'seconds_bucket{le="+Inf"} 1',
    'seconds_sum 3',
    'seconds_count 1',
    '# HELP hot_total [ALPHA] Hot.',
    '# TYPE hot_total counter',
    'hot_total{verb="LIST"} 2',
    '# HELP hot_seconds [ALPHA] Hot seconds.',
    '# TYPE hot_seconds histogram',
    'hot_seconds_bucket{le="1"} 1',
    'hot_seconds_bucket{le="+Inf"} 1',
    'hot_seconds_sum 0.5',
    'hot_seconds_count 1',
  ])
})
