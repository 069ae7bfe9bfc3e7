import { durationToMs, parseDuration, readQuantity } from '../../meta/index.ts'
import { milliOf, type Sample, type Samples } from './replicas.ts'

/** An answer of a metrics API, or an error. */
export type Reading<T> = { readonly kind: 'read'; readonly value: T } | { readonly kind: 'failed'; readonly message: string }

/** The measured usage of a Pod in metrics.k8s.io/v1beta1. */
export interface PodMetrics {
  readonly metadata: { readonly name?: string }
  readonly timestamp?: string
  /** A duration such as `15s`. */
  readonly window?: string
  readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[]
}

/** A metric value in custom.metrics.k8s.io, v1beta1 or v1beta2. */
export interface MetricValue {
  readonly describedObject?: { readonly name?: string }
  readonly timestamp?: string
  /** Seconds, in v1beta1. */
  readonly window?: number
  /** Seconds, in v1beta2. */
  readonly windowSeconds?: number
  readonly value?: string
}

const windowUsualMs = 60_000

/** The usage of a resource by Pods or by one of their containers. A Pod with an unmeasured container has no sample. */
export function podSamples(items: readonly PodMetrics[], resource: string, container?: string): Reading<Samples> {
  if (items.length === 0) return { kind: 'failed', message: 'no metrics returned from resource metrics API' }
  const samples = new Map<string, Sample>()
  for (const { metadata, timestamp, window, containers = [] } of items) {
    const counted = container === undefined ? containers : containers.filter(({ name }) => name === container)
    const values = counted.map(({ usage }) => milliIn(usage?.[resource]))
    const times = { atMs: Date.parse(timestamp ?? ''), windowMs: durationToMs(parseDuration(window ?? '') ?? 0n) }
    if (values.length === 0 || values.some((value) => value === undefined)) continue
    samples.set(metadata.name ?? '', { milli: values.reduce((sum: number, value = 0) => sum + value, 0), ...times })
  }
  return { kind: 'read', value: samples }
}

/** The values of a Pod metric. */
export function metricSamples(items: readonly MetricValue[]): Reading<Samples> {
  if (items.length === 0) return { kind: 'failed', message: 'no metrics returned from custom metrics API' }
  const samples = new Map<string, Sample>()
  for (const { describedObject, timestamp, window, windowSeconds = window, value } of items) {
    const windowMs = windowSeconds === undefined ? windowUsualMs : windowSeconds * 1000
    samples.set(describedObject?.name ?? '', { milli: milliIn(value) ?? 0, atMs: Date.parse(timestamp ?? ''), windowMs })
  }
  return { kind: 'read', value: samples }
}

/** Another server's quantity in thousandths; undefined if absent or invalid. */
export function milliIn(value: unknown): number | undefined {
  const reading = readQuantity(value)
  return reading.kind === 'quantity' ? milliOf(reading.quantity) : undefined
}
