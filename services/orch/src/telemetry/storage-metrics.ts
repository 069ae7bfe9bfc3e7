import { declareMetrics, type Metrics, type MetricTable } from '@orch/platform'
import type { Storage } from '@orch/storage'

const table = {
  etcd_db_total_size_in_bytes: { type: 'gauge', help: 'Bytes that the store takes up.' },
  apiserver_storage_size_bytes: { type: 'gauge', help: '[STABLE] Bytes that the store takes up.', labels: ['storage_cluster_id'] },
  storage_store_free_bytes: { type: 'gauge', help: 'Bytes of the store that later writes can use.' },
  storage_object_bytes: { type: 'gauge', help: 'Bytes of all objects in memory.' },
  storage_history_bytes: { type: 'gauge', help: 'Bytes of the changes in memory.' },
  apiserver_storage_objects: { type: 'gauge', help: '[STABLE] Objects of each resource.', labels: ['resource'] },
} as const satisfies MetricTable

/** Sizes of the store and of what storage holds in memory, read when the metrics are. */
export function addStorageMetrics(metrics: Metrics, storage: Storage): void {
  const known = new Set<string>()
  declareMetrics(metrics, table, {
    etcd_db_total_size_in_bytes: (gauge) => gauge.set(storage.sizes().storeBytes),
    apiserver_storage_size_bytes: (gauge) => gauge.set({ storage_cluster_id: 'store-0' }, storage.sizes().storeBytes),
    storage_store_free_bytes: (gauge) => gauge.set(storage.sizes().storeFreeBytes),
    storage_object_bytes: (gauge) => gauge.set(storage.sizes().objectBytes),
    storage_history_bytes: (gauge) => gauge.set(storage.sizes().historyBytes),
    apiserver_storage_objects: (gauge) => {
      const counts = storage.objectCounts()
      for (const prefix of counts.keys()) known.add(prefix)
      for (const prefix of known) gauge.set({ resource: toGroupResource(prefix) }, counts.get(prefix) ?? 0)
    },
  })
}

/** `apps/deployments` as `deployments.apps`, and `core/pods` as `pods`. */
function toGroupResource(prefix: string): string {
  const [group = '', plural = ''] = prefix.split('/')
  return group === 'core' ? plural : `${plural}.${group}`
}
