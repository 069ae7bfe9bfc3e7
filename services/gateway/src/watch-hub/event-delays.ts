import type { Metrics } from '@orch/platform'

/** Counts how long events were on their way from the commit to the clients; for `createWatchHub`. */
export function eventDelays(metrics: Metrics): (delayMs: number) => void {
  const delays = metrics.histogram({
    name: 'watch_event_delay_seconds',
    help: 'Time from the commit of a change until its event was given to the clients of a subscription, as far as the clocks of storage and gateway agree.',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  })
  return (delayMs) => delays.observe(delayMs / 1000)
}
