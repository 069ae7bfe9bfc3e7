import { createMetrics } from '@orch/platform'

/** The results of health checks, for `/metrics/slis`. */
export type HealthResults = ReturnType<typeof createHealthResults>

/** An empty set of results. */
export function createHealthResults() {
  const metrics = createMetrics({ process: false })
  const last = metrics.gauge({
    name: 'kubernetes_healthcheck',
    help: '[STABLE] This metric records the result of a single healthcheck.',
    labels: ['name', 'type'],
  })
  const all = metrics.counter({
    name: 'kubernetes_healthchecks_total',
    help: '[STABLE] This metric records the results of all healthcheck.',
    labels: ['name', 'status', 'type'],
  })
  return {
    /** Records the result of one check of a probe. */
    note(type: string, name: string, isWell: boolean) {
      last.set({ name, type }, isWell ? 1 : 0)
      all.inc({ name, status: isWell ? 'success' : 'error', type })
    },
    /** All results in the text format of Prometheus. */
    bytes: () => metrics.bytes(),
    /** As messages of Prometheus' Protobuf. */
    protobuf: () => metrics.protobuf(),
    contentType: metrics.contentType,
  }
}
