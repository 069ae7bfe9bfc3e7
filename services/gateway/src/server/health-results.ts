import { createMetrics } from '@orch/platform'

/** The results of health checks, for `/metrics/slis`. */
export interface HealthResults {
  /** Records the result of one check of a probe. */
  note(probe: string, check: string, isWell: boolean): void
  /** All results in the text format of Prometheus. */
  bytes(): Promise<Uint8Array>
  /** As messages of Prometheus' Protobuf. */
  protobuf(): Promise<Uint8Array>
  readonly contentType: string
}

/** An empty set of results. */
export function createHealthResults(): HealthResults {
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
    note(type, name, isWell) {
      last.set({ name, type }, isWell ? 1 : 0)
      all.inc({ name, status: isWell ? 'success' : 'error', type })
    },
    bytes: () => metrics.bytes(),
    protobuf: () => metrics.protobuf(),
    contentType: metrics.contentType,
  }
}
