import {
  type Clock,
  counter,
  createTimedHistogram,
  declareMetrics,
  gauge,
  hotCounter,
  hotGauge,
  hotHistogram,
  type Metrics,
} from '@orch/platform'
import type { Level, LevelMeter, RejectReason, SeatSeries } from './priority-level.ts'

/** The counts of the requests of one schema. The series are looked up once. */
export interface FlowSeries extends SeatSeries {
  rejected(reason: RejectReason): void
  queued(queueLength: number): void
  /** The duration of its wait, and whether it was executed. */
  waited(seconds: number, isExecuted: boolean): void
  /** Adds one to the number of waiting requests; `isWrite` is their kind. */
  addWaiting(change: 1 | -1, isWrite: boolean): void
}

/** The series of each schema of each level. */
export type FlowMetrics = ReturnType<typeof createFlowMetrics>

const secondsBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const schemaLabels = ['priority_level', 'flow_schema'] as const

const table = {
  apiserver_flowcontrol_dispatched_requests_total: hotCounter('[ALPHA] Requests that were let through.', schemaLabels),
  apiserver_flowcontrol_rejected_requests_total: counter('[ALPHA] Requests that were refused, by the reason.', [...schemaLabels, 'reason']),
  apiserver_flowcontrol_current_executing_requests: hotGauge('[ALPHA] Requests in execution.', schemaLabels),
  apiserver_flowcontrol_current_inqueue_requests: hotGauge('[ALPHA] Requests that wait in queues.', schemaLabels),
  apiserver_current_inqueue_requests: hotGauge('[ALPHA] Requests that wait in queues, by kind: reads or writes.', ['request_kind']),
  apiserver_flowcontrol_request_concurrency_in_use: hotGauge('[ALPHA] Seats that are taken.', schemaLabels),
  apiserver_flowcontrol_current_executing_seats: hotGauge('[BETA] Seats that are taken.', schemaLabels),
  apiserver_flowcontrol_request_execution_seconds: hotHistogram('[ALPHA] Execution time of requests.', secondsBuckets, [
    ...schemaLabels,
    'type',
  ]),
  apiserver_flowcontrol_request_wait_duration_seconds: hotHistogram('[ALPHA] Waiting time of queued requests.', secondsBuckets, [
    ...schemaLabels,
    'execute',
  ]),
  apiserver_flowcontrol_request_queue_length_after_enqueue: hotHistogram(
    '[ALPHA] Length of the queue when a request enters it.',
    [0, 10, 25, 50, 100, 250, 500, 1000],
    schemaLabels,
  ),
  apiserver_flowcontrol_work_estimated_seats: hotHistogram('[ALPHA] Estimated seats of requests.', [1, 2, 4, 10], schemaLabels),
  apiserver_flowcontrol_request_concurrency_limit: gauge('[ALPHA] Seats of a level.', ['priority_level']),
  apiserver_flowcontrol_nominal_limit_seats: gauge('[BETA] Seats of a level by its shares.', ['priority_level']),
  apiserver_flowcontrol_current_limit_seats: gauge('[ALPHA] Seats that a level may take now: those of its shares, as levels lend none.', [
    'priority_level',
  ]),
  apiserver_flowcontrol_current_r: gauge('[ALPHA] Virtual time of a level, in seconds.', ['priority_level']),
}

/** Values over time, of levels that are not exempt: the used part of a limit. */
const requestUse = {
  name: 'apiserver_flowcontrol_priority_level_request_utilization',
  help: '[ALPHA] At each nanosecond, requests of a level that are worked on, by its seats, or that wait, by the room of its queues.',
  buckets: [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
}
const seatUse = {
  name: 'apiserver_flowcontrol_priority_level_seat_utilization',
  help: '[ALPHA] At each nanosecond, which part of the seats of a level is taken.',
  buckets: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
}

/** Declares the metrics of flow control; `levels` are read when the metrics are. */
export function createFlowMetrics(metrics: Metrics, levels: () => readonly Level[], clock: Pick<Clock, 'monotonic'>) {
  const monotonic = () => clock.monotonic()
  const requestUses = createTimedHistogram<'phase' | 'priority_level'>(metrics, requestUse, monotonic)
  const seatUses = createTimedHistogram<'phase' | 'priority_level'>(metrics, seatUse, monotonic)
  const perLevel =
    (value: (level: Level) => number) => (gauge: { reset(): void; set(labels: { priority_level: string }, value: number): void }) => {
      gauge.reset()
      for (const level of levels()) if (!level.isExempt) gauge.set({ priority_level: level.name }, value(level))
    }
  const declared = declareMetrics(metrics, table, {
    apiserver_flowcontrol_request_concurrency_limit: perLevel(({ seatsMax }) => seatsMax),
    apiserver_flowcontrol_nominal_limit_seats: perLevel(({ seatsMax }) => seatsMax),
    apiserver_flowcontrol_current_limit_seats: perLevel(({ seatsMax }) => seatsMax),
    apiserver_flowcontrol_current_r: perLevel(({ meter }) => meter),
  })
  const ofKind = (request_kind: string) => declared.apiserver_current_inqueue_requests.series({ request_kind })
  const [waitingReads, waitingWrites] = [ofKind('readOnly'), ofKind('mutating')]
  const known = new Map<string, FlowSeries>()
  return {
    /** Measures the used part of a level. */
    meterOf(priority_level: string): LevelMeter {
      const executing = requestUses.series({ phase: 'executing', priority_level })
      const waiting = requestUses.series({ phase: 'waiting', priority_level })
      const seats = seatUses.series({ phase: 'executing', priority_level })
      return ({ executing: executed, waitingCount, seatsInUse, seatsMax, waitingMax }) => {
        const most = Math.max(1, seatsMax)
        executing.set(executed / most)
        waiting.set(waitingCount / Math.max(1, waitingMax))
        seats.set(seatsInUse / most)
      }
    },
    seriesOf(level: string, schema: string): FlowSeries {
      const key = `${level}/${schema}`
      const before = known.get(key)
      if (before !== undefined) return before
      const own = { priority_level: level, flow_schema: schema }
      const series = {
        dispatched: declared.apiserver_flowcontrol_dispatched_requests_total.series(own),
        executing: declared.apiserver_flowcontrol_current_executing_requests.series(own),
        waiting: declared.apiserver_flowcontrol_current_inqueue_requests.series(own),
        inUse: declared.apiserver_flowcontrol_request_concurrency_in_use.series(own),
        seats: declared.apiserver_flowcontrol_current_executing_seats.series(own),
        regular: declared.apiserver_flowcontrol_request_execution_seconds.series({ ...own, type: 'regular' }),
        watch: declared.apiserver_flowcontrol_request_execution_seconds.series({ ...own, type: 'watch' }),
        executed: declared.apiserver_flowcontrol_request_wait_duration_seconds.series({ ...own, execute: 'true' }),
        given: declared.apiserver_flowcontrol_request_wait_duration_seconds.series({ ...own, execute: 'false' }),
        lengths: declared.apiserver_flowcontrol_request_queue_length_after_enqueue.series(own),
        widths: declared.apiserver_flowcontrol_work_estimated_seats.series(own),
      }
      const one: FlowSeries = {
        rejected: (reason) => declared.apiserver_flowcontrol_rejected_requests_total.inc({ ...own, reason }),
        queued: (queueLength) => series.lengths.observe(queueLength),
        waited: (seconds, isExecuted) => (isExecuted ? series.executed : series.given).observe(seconds),
        begun(seats) {
          series.dispatched.add(1)
          series.executing.add(1)
          series.inUse.add(seats)
          series.seats.add(seats)
          series.widths.observe(seats)
        },
        ended(seconds, seats, kind) {
          series.executing.add(-1)
          series.inUse.add(-seats)
          series.seats.add(-seats)
          series[kind].observe(seconds)
        },
        addWaiting(change, isWrite) {
          series.waiting.add(change)
          const ofKind = isWrite ? waitingWrites : waitingReads
          ofKind.add(change)
        },
      }
      known.set(key, one)
      return one
    },
  }
}
