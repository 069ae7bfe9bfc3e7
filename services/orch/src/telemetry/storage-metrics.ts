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
  const known = new Set<string>()
  metrics.gauge({
    name: 'apiserver_storage_objects',
    help: '[STABLE] Objects of each resource.',
    labels: ['resource'],
    collect: (gauge) => {
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
