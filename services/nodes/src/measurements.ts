import type { Informer } from '@orch/client'
import type { MetricsPart, MetricsRequest, Stream } from '@orch/core/contracts'
import { type ApiObject, printTime, toInstant } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type AnsweringNode, nodeMetrics, type PodScript, podMetrics, type UsedPod, usageOf } from '@orch/core/pod-life'
import type { Node, Pod } from '@orch/core/workloads'
import { type Clock, PushStream, TurnBudget } from '@orch/platform'

/** The usage of a container by resource: `{ cpu: '80m' }`. */
export interface ContainerSample {
  readonly name: string
  readonly usage: Readonly<Record<string, string>>
}

export interface MeasurementsOptions {
  readonly names: Names
  readonly clock: Clock
  readonly pods: Pick<Informer<Pod>, 'values' | 'get'>
  readonly nodes: Pick<Informer<Node>, 'values' | 'get'>
  /** True if a node is simulated and running. */
  hasNode(name: string): boolean
  scriptFor(pod: Pod): PodScript
}

interface Sample {
  readonly timestamp: string
  readonly containers: readonly ContainerSample[]
}

const podsPerTurn = 200

/** The usage of nodes and their Pods: from scripts, or set by a test. */
export class Measurements {
  readonly #options: MeasurementsOptions
  readonly #samples = new Map<string, Sample>()
  readonly #budget = new TurnBudget(podsPerTurn)

  constructor(options: MeasurementsOptions) {
    this.#options = options
  }

  /** Sets a sample of a Pod at the current time, which stays until the Pod is gone. */
  set(uid: string, containers: readonly ContainerSample[]): void {
    this.#samples.set(uid, { timestamp: printTime(toInstant(this.#options.clock.now())), containers })
  }

  forget(uid: string): void {
    this.#samples.delete(uid)
  }

  clear(): void {
    this.#samples.clear()
  }

  /** A node and its running Pods. Undefined if it is not registered. */
  look(name: string): AnsweringNode | undefined {
    const node = this.#options.nodes.get(name)
    if (node === undefined) return undefined
    const pods = this.#options.pods.values().filter(({ spec, status }) => spec.nodeName === name && status.phase === 'Running')
    return { node, pods: pods.map((pod) => this.#measure(pod)), nowMs: this.#options.clock.now() }
  }

  /** The objects of metrics.k8s.io, by namespace and name. */
  metrics(request: MetricsRequest): Stream<MetricsPart> {
    const parts = new PushStream<MetricsPart>()
    const send = async () => {
      const objects = request.resource === 'nodes' ? await this.#nodes(request, parts) : await this.#pods(request, parts)
      for (let at = 0; at < objects.length; at += podsPerTurn) parts.push({ objects: objects.slice(at, at + podsPerTurn) })
      parts.end()
    }
    send().catch((error: unknown) => parts.fail(error))
    return parts
  }

  async #nodes({ name }: MetricsRequest, { ended }: { readonly ended: boolean }): Promise<Uint8Array[]> {
    const { names, nodes, hasNode, clock } = this.#options
    const wanted = inOrder([...nodes.values()].filter((node) => hasNode(nameOf(node)) && (name === '' || nameOf(node) === name)))
    const pods = new Map<string, UsedPod[]>(wanted.map((node) => [nameOf(node), []]))
    for (const pod of [...this.#options.pods.values()]) {
      const own = pods.get(pod.spec.nodeName ?? '')
      if (own === undefined || pod.status.phase !== 'Running') continue
      await this.#budget.take(1)
      if (ended) return []
      own.push(this.#measure(pod))
    }
    return wanted.map((node) => toBytes(nodeMetrics({ node, pods: pods.get(nameOf(node)) ?? [], nowMs: clock.now() }, names)))
  }

  async #pods({ namespace, name }: MetricsRequest, { ended }: { readonly ended: boolean }): Promise<Uint8Array[]> {
    const { pods } = this.#options
    const one = name === '' ? undefined : pods.get(name, namespace)
    const found = name === '' ? [...pods.values()] : one === undefined ? [] : [one]
    const objects: Uint8Array[] = []
    for (const pod of inOrder(found.filter(({ metadata }) => namespace === '' || metadata.namespace === namespace))) {
      await this.#budget.take(1)
      if (ended) return []
      const object = this.#metricsOf(pod)
      if (object !== undefined) objects.push(toBytes(object))
    }
    return objects
  }

  /** Undefined if the Pod is not measured. */
  #metricsOf(pod: Pod): object | undefined {
    const { names, hasNode, clock } = this.#options
    const { uid = '', name, namespace, labels } = pod.metadata
    const nowMs = clock.now()
    const sample = this.#samples.get(uid)
    if (sample !== undefined) {
      const metadata = { name, namespace, labels, creationTimestamp: printTime(toInstant(nowMs)) }
      return { kind: 'PodMetrics', apiVersion: `${domainGroup(names, 'metrics')}/v1beta1`, metadata, ...sample, window: '0s' }
    }
    if (pod.status.phase !== 'Running' || !hasNode(pod.spec.nodeName ?? '')) return undefined
    return podMetrics(this.#measure(pod), names, nowMs)
  }

  #measure(pod: Pod): UsedPod {
    const { scriptFor, clock } = this.#options
    return { pod, usage: usageOf(pod, scriptFor(pod).containers, clock.now()) }
  }
}

function toBytes(object: object): Uint8Array {
  return Buffer.from(JSON.stringify(object))
}

function nameOf({ metadata: { name = '' } }: ApiObject): string {
  return name
}

function inOrder<T extends ApiObject>(objects: readonly T[]): T[] {
  const keyed = objects.map((object) => ({ object, key: `${object.metadata.namespace ?? ''}/${nameOf(object)}` }))
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ object }) => object)
}
