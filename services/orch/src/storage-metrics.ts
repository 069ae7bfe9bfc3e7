import type { Metrics } from '@orch/platform'
import type { Storage } from '@orch/storage'

/** Sizes of the store and of what storage holds in memory, read when somebody asks for the metrics. */
export function addStorageMetrics(metrics: Metrics, storage: Storage): void {
  const sizes: readonly { name: string; help: string; of: () => number }[] = [
    { name: 'etcd_db_total_size_in_bytes', help: 'Bytes that the store takes up.', of: () => storage.sizes().storeBytes },
    { name: 'storage_store_free_bytes', help: 'Bytes of the store that later writes can use.', of: () => storage.sizes().storeFreeBytes },
    { name: 'storage_object_bytes', help: 'Bytes of all objects in memory.', of: () => storage.sizes().objectBytes },
    { name: 'storage_history_bytes', help: 'Bytes of the changes in memory.', of: () => storage.sizes().historyBytes },
  ]
  for (const { name, help, of } of sizes) metrics.gauge({ name, help, collect: (gauge) => gauge.set(of()) })
}
