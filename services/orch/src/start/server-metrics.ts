import type { Measurements } from '@orch/nodes'
import type { AutoscalerMetrics, AutoscalerMetricsParts, MetricLabels, MetricValues, Usage } from './served-metrics.ts'

/** Sets metrics, for autoscalers and `kubectl top` in tests. */
export interface MetricsSource {
  /**
   * Sets the current usage of a Pod. `set('default/web-1', { cpu: '80m' })` assigns it to the first container, and zero to the others;
   * `set('default/web-1', { main: { cpu: '80m' }, proxy: { cpu: '10m' } })` sets each container. With simulated nodes the sample replaces the usage
   * from the Pod's script; without them the first call creates a definition for pods.metrics.k8s.io. Deleting the Pod or resetting the server removes
   * the sample.
   */
  set(pod: string, usage: Usage): Promise<void>
  /**
   * Sets values of an object for custom.metrics.k8s.io/v1beta2: `setCustom('pods', 'default/web-1', { queue: 7 })`. The resource has its group, as
   * in `deployments.apps`. The first call creates an APIService; a reset removes it and all values.
   */
  setCustom(resource: string, object: string, values: MetricValues, labels?: MetricLabels): Promise<void>
  /** Sets values for external.metrics.k8s.io/v1beta1 in a namespace: `setExternal('default', { jobs: 30 }, { queue: 'mail' })`. */
  setExternal(namespace: string, values: MetricValues, labels?: MetricLabels): Promise<void>
}

interface Parts extends AutoscalerMetricsParts {
  /** Undefined if the server measures no usage itself. */
  readonly measurements: () => Measurements | undefined
}

/** The metrics of one server. Code that serves them is loaded at the first value. */
export class ServerMetrics implements MetricsSource {
  readonly #parts: Parts
  #served: Promise<AutoscalerMetrics> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Drops all values. They are no objects, so a restored state has none. */
  async clear(): Promise<void> {
    this.#parts.measurements()?.clear()
    const served = await this.#served
    served?.clear()
  }

  async set(pod: string, usage: Usage): Promise<void> {
    const { setPodMetrics } = await import('./served-metrics.ts')
    await setPodMetrics(pod, usage, { ...this.#parts, measurements: this.#parts.measurements() })
  }

  async setCustom(resource: string, object: string, values: MetricValues, labels?: MetricLabels): Promise<void> {
    const [namespace = '', name = '', ...rest] = object.includes('/') ? object.split('/') : ['', object]
    if (name === '' || rest.length > 0)
      throw new Error(`metrics of ${JSON.stringify(object)}: expected NAMESPACE/NAME, or NAME without a namespace`)
    const served = await this.#serve()
    await served.set({ resource, namespace, name }, values, labels)
  }

  async setExternal(namespace: string, values: MetricValues, labels?: MetricLabels): Promise<void> {
    const served = await this.#serve()
    await served.set({ resource: '', namespace, name: '' }, values, labels)
  }

  #serve(): Promise<AutoscalerMetrics> {
    this.#served ??= import('./served-metrics.ts').then((module) => new module.AutoscalerMetrics(this.#parts))
    return this.#served
  }
}
