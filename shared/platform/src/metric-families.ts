import { setImmediate } from 'node:timers/promises'
import { wire } from '@orch/core/contracts'
import { Writer } from '@orch/core/protobuf'
import { codecOf } from './codec.ts'
import type { MetricRows, MetricValue } from './merged-metrics.ts'

/** The numbers of `io.prometheus.client.MetricType`. */
const typeNumbers: Readonly<Record<string, number>> = { counter: 0, gauge: 1, untyped: 3, histogram: 4 }

const { double, int64, many, message, nested, optional, string } = wire
const number = message({ value: double(1) })
const bucket = message({ count: int64(1), bound: double(2) })
/** A `Metric` as the field of its family; one of the members after the labels holds its value. */
const metricField = codecOf(
  message({
    metric: nested(
      4,
      message({
        labels: many(nested(1, message({ name: string(1), value: string(2) }))),
        gauge: optional(nested(2, number)),
        counter: optional(nested(3, number)),
        untyped: optional(nested(5, number)),
        histogram: optional(nested(7, message({ count: int64(1), sum: double(2), buckets: many(nested(3, bucket)) }))),
      }),
    ),
  }),
)
const headFields = codecOf(message({ name: string(1), help: string(2), type: int64(3) }))

/** Number of metrics that are encoded before the event loop continues with other work. */
const metricsInARow = 2_000

/** A metric whose values may be computed during encoding. */
export interface MetricFamily extends Pick<MetricRows, 'name' | 'help' | 'type'> {
  readonly values: Iterable<MetricValue>
}

/** Metrics as length-prefixed `MetricFamily` messages of Prometheus. Summaries, which this server does not have, would lack their values. */
export async function* printFamilies(metrics: AsyncIterable<MetricFamily>): AsyncGenerator<Uint8Array> {
  for await (const { name, help, type: given, values } of metrics) {
    const type = Object.hasOwn(typeNumbers, given) ? given : 'untyped'
    const encoded: Uint8Array[] = []
    for (const { labels, ...value } of type === 'histogram' ? histogramsOf(name, values) : values) {
      const pairs = Object.entries(labels).map(([label, text]) => ({ name: label, value: String(text) }))
      encoded.push(metricField.encode({ metric: { labels: pairs, [type]: value } }))
      if (encoded.length % metricsInARow === 0) await setImmediate()
    }
    if (encoded.length === 0) continue
    const head = headFields.encode({ name, help, type: typeNumbers[type] ?? 0 })
    const length = new Writer()
    length.varint(head.length + encoded.reduce((sum, one) => sum + one.length, 0))
    yield length.finish()
    yield head
    yield* encoded
  }
}

/** A histogram with its labels, buckets, sum and count. */
interface Histogram {
  readonly labels: MetricValue['labels']
  readonly buckets: { readonly bound: number; readonly count: number }[]
  sum: number
  count: number
}

function histogramsOf(name: string, values: Iterable<MetricValue>): Iterable<Histogram> {
  const byLabels = new Map<string, Histogram>()
  for (const {
    labels: { le, ...labels },
    value,
    metricName,
  } of values) {
    const key = JSON.stringify(labels)
    const histogram = byLabels.get(key) ?? { labels, buckets: [], sum: 0, count: 0 }
    byLabels.set(key, histogram)
    if (metricName === `${name}_sum`) histogram.sum = value
    else if (metricName === `${name}_count`) histogram.count = value
    // The count is the value of the bucket without a bound.
    else if (le !== '+Inf' && Number.isFinite(Number(le))) histogram.buckets.push({ bound: Number(le), count: value })
  }
  return byLabels.values()
}
