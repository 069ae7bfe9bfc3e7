import { memo } from '@orch/core/memo'
import { counter, declareMetrics, histogram } from '../metric-table.ts'
import type { Metrics } from '../metrics.ts'

/** The reason why a call of a conversion webhook failed. */
export type ConversionFailureKind =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

/** The definition and the versions of a call. */
interface CountedConversion {
  readonly definition: string
  readonly fromVersion: string
  readonly toVersion: string
}

/** Metrics of conversion webhook calls, under the names that kube-apiserver uses. */
export interface ConversionMetrics {
  /** Counts a call. Without a failure the call was successful. */
  count(conversion: CountedConversion, durationMs: number, failure: ConversionFailureKind | undefined): void
}

const outcomeLabels = ['result', 'failure_type'] as const

/** 15 buckets from one millisecond, each twice the one before. */
const conversionBuckets = Array.from({ length: 15 }, (_, index) => 2 ** index / 1000)

const table = {
  apiserver_crd_conversion_webhook_duration_seconds: histogram(
    '[ALPHA] Duration of conversions by a webhook, by definition and versions.',
    conversionBuckets,
    ['crd_name', 'from_version', 'to_version', 'succeeded'],
  ),
  apiserver_crd_webhook_conversion_duration_seconds: histogram(
    '[ALPHA] Duration of conversions by a webhook, by definition and versions; deprecated name.',
    conversionBuckets,
    ['crd_name', 'from_version', 'to_version', 'succeeded'],
  ),
  apiserver_conversion_webhook_request_total: counter('[ALPHA] Conversion webhook calls, by outcome.', outcomeLabels),
  apiserver_conversion_webhook_duration_seconds: histogram(
    '[ALPHA] Duration of conversion webhook calls, by outcome.',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
    outcomeLabels,
  ),
}

/** The metrics of a server, shared by all its users: a gateway and admission may be in one process. */
export const conversionMetricsOf = memo(declareConversionMetrics)

function declareConversionMetrics(metrics: Metrics): ConversionMetrics {
  const {
    apiserver_crd_conversion_webhook_duration_seconds: conversions,
    apiserver_crd_webhook_conversion_duration_seconds: conversionsBefore,
    apiserver_conversion_webhook_request_total: calls,
    apiserver_conversion_webhook_duration_seconds: durations,
  } = declareMetrics(metrics, table)
  return {
    count({ definition, fromVersion, toVersion }, durationMs, failure) {
      const seconds = durationMs / 1000
      const versions = { crd_name: definition, from_version: fromVersion, to_version: toVersion }
      const own = { ...versions, succeeded: String(failure === undefined) }
      conversions.observe(own, seconds)
      conversionsBefore.observe(own, seconds)
      const outcome = { result: failure === undefined ? 'success' : 'failure', failure_type: failure ?? '' }
      calls.inc(outcome)
      durations.observe(outcome, seconds)
    },
  }
}
