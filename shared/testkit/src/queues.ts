import { type Clock, createMetrics, type WorkqueueMetrics, workqueueMetricsOf } from '@orch/platform'
import { createFakeClock } from './fake-clock.ts'

/** Metrics of queues, for tests that do not read them. */
export function someQueueMetrics(clock: Clock = createFakeClock()): WorkqueueMetrics {
  return workqueueMetricsOf(createMetrics({ process: false }), clock)
}
