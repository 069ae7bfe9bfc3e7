import type { Metrics } from '@orch/platform'
import { createCountedHistogram, createCountedNumbers } from '../counted-metrics.ts'
import type { Level, RejectReason } from './priority-level.ts'

/** What is counted of the requests of one schema. The series are looked up once. */
export interface FlowSeries {
  dispatched(): void
  rejected(reason: RejectReason): void
  queued(queueLength: number): void
  /** It waited so long, and then was worked on or not. */
  waited(seconds: number, isExecuted: boolean): void
  begun(seats: number): void
  ended(seconds: number, seats: number, kind: 'regular' | 'watch'): void
  /** Changes by one how many wait. */
  addWaiting(change: 1 | -1): void
}

export interface FlowMetrics {
  seriesOf(level: string, schema: string): FlowSeries
}

const secondsBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const queueLengthBuckets = [0, 10, 25, 50, 100, 250, 500, 1000]

export function createFlowMetrics(metrics: Metrics, levels: () => readonly Level[]): FlowMetrics {
  const told = (name: string, help: string) => ({ name: `apiserver_flowcontrol_${name}`, help: `[ALPHA] ${help}` })
  const counter = (name: string, help: string) => createCountedNumbers(metrics, { ...told(name, help), type: 'counter' })
  const gauge = (name: string, help: string) => createCountedNumbers(metrics, { ...told(name, help), type: 'gauge' })
  const histogram = (name: string, help: string, buckets: readonly number[]) =>
    createCountedHistogram(metrics, { ...told(name, help), buckets })
  const dispatched = counter('dispatched_requests_total', 'Requests that were let through.')
  const rejected = metrics.counter({
    ...told('rejected_requests_total', 'Requests that were refused, by the reason.'),
    labels: ['priority_level', 'flow_schema', 'reason'],
  })
  const executing = gauge('current_executing_requests', 'Requests that are being worked on.')
  const waiting = gauge('current_inqueue_requests', 'Requests that wait in queues.')
  const inUse = gauge('request_concurrency_in_use', 'Seats that are taken.')
  const execution = histogram('request_execution_seconds', 'Time that requests were worked on.', secondsBuckets)
  const wait = histogram('request_wait_duration_seconds', 'Time that requests waited which were queued.', secondsBuckets)
  const lengths = histogram('request_queue_length_after_enqueue', 'Length of a queue as a request finds it.', queueLengthBuckets)
  const widths = histogram('work_estimated_seats', 'Seats that requests were thought to need.', [1, 2, 4, 10])
  const perLevel = (name: string, help: string, value: (level: Level) => number) =>
    metrics.gauge({
      name: `apiserver_flowcontrol_${name}`,
      help: `[ALPHA] ${help}`,
      labels: ['priority_level'],
      collect: (one) => {
        one.reset()
        for (const level of levels()) if (!level.isExempt) one.set({ priority_level: level.name }, value(level))
      },
    })
  perLevel('request_concurrency_limit', 'Seats of a level.', ({ seatsMax }) => seatsMax)
  perLevel('current_r', 'Virtual time of a level, in seconds.', ({ meter }) => meter)
  const known = new Map<string, FlowSeries>()
  return {
    seriesOf(level, schema) {
      const key = `${level}/${schema}`
      const before = known.get(key)
      if (before !== undefined) return before
      const own = { priority_level: level, flow_schema: schema }
      const series = {
        dispatched: dispatched.series(own),
        executing: executing.series(own),
        waiting: waiting.series(own),
        inUse: inUse.series(own),
        regular: execution.series({ ...own, type: 'regular' }),
        watch: execution.series({ ...own, type: 'watch' }),
        executed: wait.series({ ...own, execute: 'true' }),
        given: wait.series({ ...own, execute: 'false' }),
        lengths: lengths.series(own),
        widths: widths.series(own),
      }
      const one: FlowSeries = {
        dispatched: () => series.dispatched.add(1),
        rejected: (reason) => rejected.inc({ ...own, reason }),
        queued: (queueLength) => series.lengths.observe(queueLength),
        waited: (seconds, isExecuted) => (isExecuted ? series.executed : series.given).observe(seconds),
        begun(seats) {
          series.executing.add(1)
          series.inUse.add(seats)
          series.widths.observe(seats)
        },
        ended(seconds, seats, kind) {
          series.executing.add(-1)
          series.inUse.add(-seats)
          series[kind].observe(seconds)
        },
        addWaiting: (change) => series.waiting.add(change),
      }
      known.set(key, one)
      return one
    },
  }
}
