import { counter, declareMetrics, gauge, type Metrics } from '@orch/platform'
import type { Verdict } from './availability.ts'

/** The metrics of remote servers, under the names that dashboards query. */
export type AvailabilityMetrics = ReturnType<typeof createAvailabilityMetrics>

const table = {
  aggregator_unavailable_apiservice: gauge('[ALPHA] 1 where the server of an APIService is not available.', ['name'], {
    together: 'largest',
  }),
  aggregator_unavailable_apiservice_total: counter('[ALPHA] How often the server of an APIService has become unavailable, by reason.', [
    'name',
    'reason',
  ]),
}

/** Counts verdicts on APIServices. */
export function createAvailabilityMetrics(metrics: Metrics) {
  const verdicts = new Map<string, Verdict>()
  const { aggregator_unavailable_apiservice_total: total } = declareMetrics(metrics, table, {
    aggregator_unavailable_apiservice: (gauge) => {
      gauge.reset()
      for (const [name, { status }] of verdicts) gauge.set({ name }, status === 'True' ? 0 : 1)
    },
  })
  return {
    note(name: string, verdict: Verdict) {
      const before = verdicts.get(name)
      verdicts.set(name, verdict)
      if (verdict.status !== 'True' && (before === undefined || before.status === 'True')) total.inc({ name, reason: verdict.reason ?? '' })
    },
    forget: (name: string) => void verdicts.delete(name),
  }
}
