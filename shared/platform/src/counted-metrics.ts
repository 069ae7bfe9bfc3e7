/** Metrics for values that change dozens of times per request: they do not hash labels, and are summed only when read. */

import { getOrMake } from '@orch/core/memo'
import type { MetricValue } from './merged-metrics.ts'
import type { Metrics } from './metrics.ts'

type Labels = Readonly<Record<string, string>>

/** A histogram's series for one combination of labels. */
export interface CountedSeries {
  observe(value: number): void
}

/** A histogram whose callers create one series per combination of labels and keep it. Series without observations are not printed. */
export interface CountedHistogram<L extends string = string> {
  series(labels: Readonly<Record<L, string>>): CountedSeries
}

/** A counter's or gauge's series for one combination of labels. */
export interface CountedNumber {
  add(change: number): void
}

/** Like `CountedHistogram`. */
export interface CountedNumbers<L extends string = string> {
  series(labels: Readonly<Record<L, string>>): CountedNumber
}

interface MetricDescription {
  readonly name: string
  readonly help: string
}

/** A timed histogram's series for one combination of labels. */
interface TimedSeries {
  /** Sets the value from now on. */
  set(value: number): void
}

/** A histogram that weights each value by its duration in nanoseconds, like kube-apiserver's timing histograms. */
export interface TimedHistogram<L extends string = string> {
  series(labels: Readonly<Record<L, string>>): TimedSeries
}

interface KeptHistogram {
  readonly labels: Labels
  /** Counts per bucket, not cumulative; the last one is for larger values. */
  readonly counts: readonly number[]
  readonly sum: number
}

export function createCountedHistogram(
  metrics: Metrics,
  description: MetricDescription & { readonly buckets: readonly number[] },
): CountedHistogram {
  const made = new CountedHistograms(description)
  metrics.keep(made)
  return made
}

/** The series of a counted histogram. A server of a test has dozens of histograms and reads none. */
export class CountedHistograms implements CountedHistogram {
  readonly type = 'histogram'
  readonly name: string
  readonly help: string
  readonly #buckets: readonly number[]
  #all: ByLabels<KeptSeries> | undefined

  constructor({ name, help, buckets }: MetricDescription & { readonly buckets: readonly number[] }) {
    this.name = name
    this.help = help
    this.#buckets = buckets
  }

  *values(): Iterable<MetricValue> {
    for (const kept of this.#all?.values() ?? []) yield* valuesOf(this.name, this.#buckets, kept)
  }

  series(labels: Labels): CountedSeries {
    const buckets = this.#buckets
    this.#all ??= new ByLabels((own) => new KeptSeries(own, buckets))
    return this.#all.of(labels)
  }
}

/** A series, whose counts are made by the first observation. */
class KeptSeries implements KeptHistogram, CountedSeries {
  readonly labels: Labels
  counts: number[] = []
  sum = 0
  readonly #buckets: readonly number[]

  constructor(labels: Labels, buckets: readonly number[]) {
    this.labels = labels
    this.#buckets = buckets
  }

  observe(value: number): void {
    if (this.counts.length === 0) this.counts = new Array<number>(this.#buckets.length + 1).fill(0)
    const index = bucketOf(value, this.#buckets)
    this.counts[index] = this.counts[index]! + 1
    this.sum += value
  }
}

/** Like `createCountedHistogram`; reading it includes the time up to now. `monotonic` gives milliseconds. */
export function createTimedHistogram<L extends string>(
  metrics: Metrics,
  description: MetricDescription & { readonly buckets: readonly number[] },
  monotonic: () => number,
): TimedHistogram<L> {
  const { name, help, buckets } = description
  const all = new ByLabels((labels) => new KeptTime(labels, buckets, monotonic))
  metrics.keep({
    name,
    help,
    type: 'histogram',
    *values() {
      for (const kept of all.values()) {
        kept.pass()
        yield* valuesOf(name, buckets, kept)
      }
    },
  })
  return { series: (labels) => all.of(labels) }
}

class KeptTime implements KeptHistogram, TimedSeries {
  readonly labels: Labels
  counts: number[] = []
  sum = 0
  readonly #buckets: readonly number[]
  readonly #monotonic: () => number
  #value = 0
  #index = 0
  #sinceMs: number

  constructor(labels: Labels, buckets: readonly number[], monotonic: () => number) {
    this.labels = labels
    this.#buckets = buckets
    this.#monotonic = monotonic
    this.#sinceMs = monotonic()
  }

  set(value: number): void {
    if (value === this.#value) return
    this.pass()
    this.#value = value
    this.#index = bucketOf(value, this.#buckets)
  }

  /** Counts the time since the last count. */
  pass(): void {
    if (this.counts.length === 0) this.counts = new Array<number>(this.#buckets.length + 1).fill(0)
    const nowMs = this.#monotonic()
    const nanoseconds = Math.round((nowMs - this.#sinceMs) * 1e6)
    this.counts[this.#index] = this.counts[this.#index]! + nanoseconds
    this.sum += this.#value * nanoseconds
    this.#sinceMs = nowMs
  }
}

/** The index of the first bucket that holds a value. */
function bucketOf(value: number, buckets: readonly number[]): number {
  let index = 0
  while (index < buckets.length && value > buckets[index]!) index++
  return index
}

class KeptNumber implements CountedNumber {
  readonly labels: Labels
  value = 0
  isTouched = false

  constructor(labels: Labels) {
    this.labels = labels
  }

  add(change: number): void {
    this.isTouched = true
    this.value += change
  }
}

/** The series of a counter or gauge. */
export class CountedValues implements CountedNumbers {
  readonly type: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  #all: ByLabels<KeptNumber> | undefined

  constructor({ name, help, type }: MetricDescription & { readonly type: 'counter' | 'gauge' }) {
    this.name = name
    this.help = help
    this.type = type
  }

  *values(): Iterable<MetricValue> {
    for (const { labels, value, isTouched } of this.#all?.values() ?? []) if (isTouched) yield { labels, value }
  }

  series(labels: Labels): CountedNumber {
    this.#all ??= new ByLabels((own) => new KeptNumber(own))
    return this.#all.of(labels)
  }
}

/** Caches one value per combination of labels. */
class ByLabels<T> {
  readonly #known = new Map<string, T>()
  readonly #make: (labels: Labels) => T

  constructor(make: (labels: Labels) => T) {
    this.#make = make
  }

  of(labels: Labels): T {
    const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
    return getOrMake(this.#known, key, () => this.#make(labels))
  }

  values(): T[] {
    return [...this.#known.values()]
  }
}

function valuesOf(name: string, buckets: readonly number[], { labels, counts, sum }: KeptHistogram): MetricValue[] {
  let count = 0
  const bucketValues = [...buckets.map(String), '+Inf'].map((le, index) => {
    count += counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  if (count === 0) return []
  return [...bucketValues, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}
