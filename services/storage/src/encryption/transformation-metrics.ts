import { type Clock, declareMetrics, hotCounter, hotHistogram, type Metrics } from '@orch/platform'
import type { TransformObserver } from './encryption.ts'

const table = {
  apiserver_storage_transformation_duration_seconds: hotHistogram(
    '[ALPHA] Time in which values are encrypted and decrypted.',
    Array.from({ length: 25 }, (_, index) => 5e-6 * 2 ** index),
    ['transformation_type'],
  ),
  apiserver_storage_transformation_operations_total: hotCounter(
    '[ALPHA] Values that were encrypted or decrypted, by the prefix of what did it and by its outcome.',
    ['transformation_type', 'transformer_prefix', 'status'],
  ),
}

/** Counts the work of encrypting providers. Unchanged values are not counted. The status is a code of gRPC, as in kube-apiserver. */
export function observeTransformations(metrics: Metrics, clock: Pick<Clock, 'monotonic'>): TransformObserver {
  const { apiserver_storage_transformation_duration_seconds: durations, apiserver_storage_transformation_operations_total: operations } =
    declareMetrics(metrics, table)
  const seconds = {
    to_storage: durations.series({ transformation_type: 'to_storage' }),
    from_storage: durations.series({ transformation_type: 'from_storage' }),
  }
  return {
    began: () => clock.monotonic(),
    ended({ direction: transformation_type, prefix: transformer_prefix, hasFailed }, began) {
      seconds[transformation_type].observe((clock.monotonic() - began) / 1000)
      operations.series({ transformation_type, transformer_prefix, status: hasFailed ? 'Unknown' : 'OK' }).add(1)
    },
  }
}
