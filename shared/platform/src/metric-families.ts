import { setImmediate } from 'node:timers/promises'
import { Writer } from '@orch/core/protobuf'
import type { MetricRows, MetricValue } from './merged-metrics.ts'

/** The number of each type in `io.prometheus.client.MetricType`, and of the member of a metric that holds its value. */
const types: Readonly<Record<string, { readonly number: number; readonly member: number }>> = {
  counter: { number: 0, member: 3 },
  gauge: { number: 1, member: 2 },
  histogram: { number: 4, member: 7 },
}
const untyped = { number: 3, member: 5 }

/** Number of metrics that are encoded before the event loop continues with other work. */
const metricsInARow = 2_000

/** A metric whose values may be computed during encoding. */
export interface MetricFamily extends Pick<MetricRows, 'name' | 'help' | 'type'> {
  readonly values: Iterable<MetricValue>
}

/** Metrics as length-prefixed `MetricFamily` messages of Prometheus. Summaries, which this server does not have, would lack their values. */
export async function* printFamilies(metrics: AsyncIterable<MetricFamily>): AsyncGenerator<Uint8Array> {
  const writer = new Writer()
  for await (const { name, help, type, values } of metrics) {
    const { number, member } = types[type] ?? untyped
    const encoded: Uint8Array[] = []
    for (const metric of type === 'histogram' ? histogramsOf(name, values) : values) {
      writeMetric(writer, metric, member)
      encoded.push(writer.finish())
      if (encoded.length % metricsInARow === 0) await setImmediate()
    }
    if (encoded.length === 0) continue
    writeField(writer, 3, () => writer.varint(number), 'number')
    writeText(writer, 2, help)
    writeText(writer, 1, name)
    const head = writer.finish()
    writer.varint(head.length + encoded.reduce((sum, { length }) => sum + length, 0))
    yield writer.finish()
    yield head
    yield* encoded
  }
}

/** A histogram with its labels, buckets, sum and count. */
interface Histogram {
  readonly labels: MetricValue['labels']
  readonly buckets: (readonly [bound: number, count: number])[]
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
    else if (le !== '+Inf' && Number.isFinite(Number(le))) histogram.buckets.push([Number(le), value])
  }
  return byLabels.values()
}

/** Writes a metric with its labels, fields in reverse order, since the writer writes backwards. */
function writeMetric(writer: Writer, metric: MetricValue | Histogram, member: number): void {
  writeMessage(writer, 4, () => {
    writeMessage(writer, member, () => {
      if ('value' in metric) return writeDouble(writer, 1, metric.value)
      for (const [bound, count] of metric.buckets.toReversed()) {
        writeMessage(writer, 3, () => {
          writeDouble(writer, 2, bound)
          writeField(writer, 1, () => writer.integer(count), 'number')
        })
      }
      writeDouble(writer, 2, metric.sum)
      writeField(writer, 1, () => writer.integer(metric.count), 'number')
    })
    for (const [name, value] of Object.entries(metric.labels).toReversed()) {
      writeMessage(writer, 1, () => {
        writeText(writer, 2, String(value))
        writeText(writer, 1, name)
      })
    }
  })
}

const wireTypes = { number: 0, double: 1, bytes: 2 } as const

function writeField(writer: Writer, field: number, write: () => void, wire: keyof typeof wireTypes): void {
  write()
  writer.varint(field * 8 + wireTypes[wire])
}

function writeDouble(writer: Writer, field: number, value: number): void {
  writeField(writer, field, () => writer.double(value), 'double')
}

function writeText(writer: Writer, field: number, text: string): void {
  writeField(writer, field, () => writer.text(text), 'bytes')
}

function writeMessage(writer: Writer, field: number, write: () => void): void {
  const before = writer.length
  write()
  writer.varint(writer.length - before)
  writer.varint(field * 8 + wireTypes.bytes)
}
