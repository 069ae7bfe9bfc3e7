import { createMetrics } from '@orch/platform'
import { createFakeClock } from '@orch/testkit'
import { expect, test } from 'vitest'
import { createCountedSummary } from './admission-metrics.ts'

function aSummary() {
  const metrics = createMetrics({ process: false })
  const clock = createFakeClock()
  const options = { name: 'seconds', help: 'Seconds.', quantiles: [0.5, 0.9, 0.99], ageMsMax: 5_000, clock }
  const series = createCountedSummary(metrics, options).series({ type: 'a' })
  const told = async () => {
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('seconds'))
    return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]))
  }
  return { metrics, clock, series, told }
}

test('quantiles are within 2.5 % of the observed values, sum and count exact', async () => {
  const { series, told, metrics } = aSummary()
  for (let index = 1; index <= 1000; index++) series.observe(index / 1000)
  const values = await told()
  for (const quantile of [0.5, 0.9, 0.99]) {
    const value = values[`seconds{quantile="${quantile}",type="a"}`] ?? 0
    expect(Math.abs(value / quantile - 1)).toBeLessThan(0.025)
  }
  expect(values['seconds_sum{type="a"}']).toBeCloseTo(500.5)
  expect(values['seconds_count{type="a"}']).toBe(1000)
  expect(await metrics.text()).toContain('# HELP seconds [ALPHA] Seconds.\n# TYPE seconds summary\n')
})

test('quantiles ignore old values, and are absent without recent values', async () => {
  const { series, told, clock } = aSummary()
  series.observe(8)
  await clock.advance(4_000)
  for (const value of [1e-9, 1, 1, 1]) series.observe(value)
  const of = async (quantile: string) => (await told())[`seconds{quantile="${quantile}",type="a"}`]
  expect(await of('0.99')).toBeCloseTo(8, 0)
  await clock.advance(2_000)
  expect(await of('0.99')).toBeCloseTo(1, 1)
  series.observe(1)
  await clock.advance(10_000)
  expect(await of('0.5')).toBeNaN()
  expect((await told())['seconds_count{type="a"}']).toBe(6)
})

test('a value beyond all bounds counts as the greatest', async () => {
  const { series, told } = aSummary()
  series.observe(1e9)
  expect((await told())['seconds{quantile="0.5",type="a"}']).toBeGreaterThan(600)
})
