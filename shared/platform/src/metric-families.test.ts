import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

/** The fields of a message, as numbers and values; bytes may be messages or texts. */
function fieldsOf(bytes: Uint8Array): (readonly [field: number, value: number | Uint8Array])[] {
  const view = Buffer.from(bytes)
  const found: [number, number | Uint8Array][] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = view.readUInt8(at++)
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < view.length) {
    const tag = varint()
    const size = tag % 8 === 1 ? 8 : tag % 8 === 2 ? varint() : 0
    found.push([Math.floor(tag / 8), tag % 8 === 0 ? varint() : tag % 8 === 1 ? view.readDoubleLE(at) : view.subarray(at, at + size)])
    at += size
  }
  return found
}

const all = (bytes: unknown, field: number) =>
  fieldsOf(bytes as Uint8Array)
    .filter(([one]) => one === field)
    .map(([, value]) => value)
const one = (bytes: unknown, ...path: number[]): unknown => path.reduce<unknown>((part, field) => all(part, field)[0], bytes)
const textAt = (bytes: unknown, ...path: number[]): string => Buffer.from(one(bytes, ...path) as Uint8Array).toString()

/** Length-prefixed messages as the values of a field. */
function messagesIn(bytes: Buffer): Uint8Array[] {
  const found: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const isLong = bytes.readUInt8(at) >= 128
    const length = isLong ? (bytes.readUInt8(at) & 127) + bytes.readUInt8(at + 1) * 128 : bytes.readUInt8(at)
    at += isLong ? 2 : 1
    found.push(bytes.subarray(at, at + length))
    at += length
  }
  return found
}

test('counters, gauges, histograms and stored metrics are length-delimited Prometheus messages', async () => {
  const metrics = createMetrics({ process: false })
  metrics.counter({ name: 'a_total', help: 'A.', labels: ['x', 'y'] }).inc({ x: '1', y: 'é' }, 300)
  metrics.gauge({ name: 'b', help: 'B.' }).set(-1.5)
  const histogram = metrics.histogram({ name: 'c_seconds', help: 'C.', labels: ['v'], buckets: [0.5, 2] })
  for (const value of [0.1, 1, 5]) histogram.observe({ v: 'get' }, value)
  metrics.keep({ name: 'd', help: 'D.', type: 'gauge', values: () => [{ labels: {}, value: 7 }] })
  metrics.counter({ name: 'without_values', help: 'E.', labels: ['x'] })
  const [counter, gauge, timed, kept, ...more] = messagesIn(await metrics.protobuf())
  expect(more).toEqual([])
  expect([textAt(counter, 1), textAt(counter, 2), one(counter, 3), one(counter, 4, 3, 1)]).toEqual(['a_total', '[ALPHA] A.', 0, 300])
  const labels = all(one(counter, 4), 1).map((label) => [textAt(label, 1), textAt(label, 2)])
  expect(labels).toEqual([
    ['x', '1'],
    ['y', 'é'],
  ])
  expect([textAt(gauge, 1), one(gauge, 3), one(gauge, 4, 2, 1)]).toEqual(['b', 1, -1.5])
  const buckets = all(one(timed, 4, 7), 3).map((bucket) => [one(bucket, 1), one(bucket, 2)])
  expect([one(timed, 3), textAt(timed, 4, 1, 2), one(timed, 4, 7, 1), one(timed, 4, 7, 2), buckets]).toEqual([
    4,
    'get',
    3,
    6.1,
    [
      [1, 0.5],
      [2, 2],
    ],
  ])
  expect([textAt(kept, 1), one(kept, 4, 2, 1)]).toEqual(['d', 7])
})
