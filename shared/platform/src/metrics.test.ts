import perfHooks from 'node:perf_hooks'
import { describe, expect, test, vi } from 'vitest'
import { createMetrics } from './metrics.ts'

test('counters, gauges and histograms are printed in the text format, separately for each server', async () => {
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

test('metrics of the process have valid Prometheus names, and the lag is not measured before their first reader', async () => {
  const measured = vi.spyOn(perfHooks, 'monitorEventLoopDelay')
  const metrics = createMetrics({ process: true })
  expect(measured).not.toHaveBeenCalled()
  const text = await metrics.text()
  expect(measured).toHaveBeenCalledOnce()
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({ name, type }))
  expect(types.map(({ name }) => name)).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_active_resources']))
  expect(types.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([])
})

test('METRIC-14: a metric without a stability is ALPHA', async () => {
  const metrics = createMetrics({ process: false })
  metrics.gauge({ name: 'plain', help: 'Plain.' })
  metrics.gauge({ name: 'stable', help: '[STABLE] Stable.' })
  expect(await metrics.text()).toContain('# HELP plain [ALPHA] Plain.\n')
  expect(await metrics.text()).toContain('# HELP stable [STABLE] Stable.\n')
})

describe('a deprecated metric', () => {
  const textIn = async (current: string, showsHidden: boolean) => {
    const metrics = createMetrics({ process: false, releases: { current, showsHidden } })
    metrics.counter({ name: 'old_total', help: '[STABLE] Old.', deprecatedFrom: '1.22' }).inc()
    return (await metrics.text()).trim()
  }
  const told = '# HELP old_total [STABLE] (Deprecated from 1.22) Old.\n# TYPE old_total counter\nold_total 1'

  test.each(['1.22', '1.23', '1.24'])('METRIC-15, METRIC-16: is exposed in release %s, with a deprecation in its help', async (release) => {
    expect(await textIn(release, false)).toBe(told)
  })

  test('METRIC-17, METRIC-18: is hidden three releases later, and shown on request', async () => {
    expect(await textIn('1.25', false)).toBe('')
    expect(await textIn('1.25', true)).toBe(told)
  })

  test('METRIC-19: is removed in the release after that, with any flags', async () => {
    expect(await textIn('1.26', true)).toBe('')
  })
})

test('many values are printed in several turns of the loop, with the same text as the registry', async () => {
  const metrics = createMetrics({ process: false })
  const sizes = metrics.histogram({ name: 'sizes', help: 'Sizes\nof things.', labels: ['of'], buckets: [1, 2, 4] })
  metrics.counter({ name: 'none_total', help: 'None yet.', labels: ['of'] })
  metrics.gauge({ name: 'level', help: 'Level.' }).set(Number.POSITIVE_INFINITY)
  for (let index = 0; index < 3_000; index++) sizes.observe({ of: `thing "${index}"\n` }, index % 5)
  let turns = 0
  let isPrinted = false
  const count = () => {
    turns += 1
    if (!isPrinted) setImmediate(count)
  }
  setImmediate(count)
  const text = await metrics.text()
  isPrinted = true
  expect(text).toBe(await metrics.registry.metrics())
  // 3,000 histograms have six lines each; a turn prints 2,000 lines.
  expect(turns).toBeGreaterThanOrEqual(9)
  expect((await metrics.bytes()).toString()).toBe(text)
})

test('LIM-12: values that a metric stores itself are formatted while they are printed, and other work runs in between', async () => {
  const metrics = createMetrics({ process: false })
  const made: number[] = []
  let count = 0
  metrics.keep({
    name: 'kept_total',
    help: 'Kept.',
    type: 'counter',
    *values() {
      for (count = 0; count < 9_000; count++) yield { labels: { of: `thing ${count}` }, value: count }
    },
  })
  metrics.keep({ name: 'none', help: 'None yet.', type: 'gauge', values: () => [] })
  const other = () => {
    made.push(count)
    if (count < 9_000) setImmediate(other)
  }
  setImmediate(other)
  const text = await metrics.text()
  expect(text).toBe(await metrics.registry.metrics())
  expect((await metrics.bytes()).toString()).toBe(text)
  const rows = made.map((value, index) => value - (made[index - 1] ?? 0))
  expect(Math.max(...rows)).toBeLessThanOrEqual(2_001)
  expect(new Set(made).size).toBeGreaterThanOrEqual(4)
})
