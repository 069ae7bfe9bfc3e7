import { type ObjectMeta, printQuantity, printTime, toInstant, toQuantity } from '../meta/index.ts'
import { domainGroup, type Names } from '../names.ts'
import type { Node, Pod } from '../workloads/pods.ts'
import { type ContainerUsage, type UsageTurn, usageAt } from './usage.ts'

/** A running Pod with the usage of its containers by name. */
export interface UsedPod {
  readonly pod: Pod
  readonly usage: ReadonlyMap<string, ContainerUsage>
}

/** The answering node, and its Pods. */
export interface AnsweringNode {
  readonly node: Node
  readonly pods: readonly UsedPod[]
  readonly nowMs: number
}

export interface NodeDocument {
  readonly contentType: string
  readonly text: string
}

/** The usage of a node apart from its Pods. */
const ofNodeItself: ContainerUsage = { nanoCores: 50_000_000, bytes: 200 * 1024 * 1024 }
const json = 'application/json'

/** The paths of a kubelet that simulated nodes answer. */
const documents: Readonly<Record<string, (asked: AnsweringNode) => NodeDocument>> = {
  '/healthz': () => ({ contentType: 'text/plain; charset=utf-8', text: 'ok' }),
  '/pods': ({ pods }) => {
    const items = pods.map(({ pod }) => pod)
    return { contentType: json, text: JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }) }
  },
  '/stats/summary': (asked) => ({ contentType: json, text: JSON.stringify(summaryOf(asked)) }),
  '/metrics/resource': (asked) => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: resourceMetrics(asked) }),
}

/** A node's answer to a path; undefined for paths that simulated nodes do not have. The query is ignored. */
export function nodeDocument(path: string, asked: AnsweringNode): NodeDocument | undefined {
  return documents[path]?.(asked)
}

function summed(usages: Iterable<ContainerUsage>): ContainerUsage {
  let [nanoCores, bytes] = [0, 0]
  for (const one of usages) {
    nanoCores += one.nanoCores
    bytes += one.bytes
  }
  return { nanoCores, bytes }
}

function usageOfNode({ pods }: AnsweringNode): ContainerUsage {
  return summed([ofNodeItself, ...pods.flatMap(({ usage }) => [...usage.values()])])
}

/** The start times of a Pod's containers in milliseconds, by name. */
function startsOf({ status }: Pod): ReadonlyMap<string, number> {
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
  return new Map(statuses.flatMap(({ name, state }) => (state?.running?.startedAt ? [[name, Date.parse(state.running.startedAt)]] : [])))
}

function summaryOf(asked: AnsweringNode): object {
  const { node, pods, nowMs } = asked
  const time = printTime(toInstant(nowMs))
  const amounts = ({ nanoCores, bytes }: ContainerUsage) => ({
    cpu: { time, usageNanoCores: nanoCores },
    memory: { time, usageBytes: bytes, workingSetBytes: bytes },
  })
  return {
    node: { nodeName: node.metadata.name, startTime: node.metadata.creationTimestamp, ...amounts(usageOfNode(asked)) },
    pods: pods.map(({ pod, usage }) => {
      const { name, namespace, uid } = pod.metadata
      const starts = startsOf(pod)
      const containers = [...usage].map(([container, used]) => {
        const startTime = printTime(toInstant(starts.get(container) ?? nowMs))
        return { name: container, startTime, ...amounts(used) }
      })
      return { podRef: { name, namespace, uid }, startTime: pod.status.startTime, containers, ...amounts(summed(usage.values())) }
    }),
  }
}

interface Series {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  readonly lines: readonly string[]
}

/** Metrics in the Prometheus format, with the names that metrics-server reads. CPU time grows evenly from the start of a container. */
function resourceMetrics(asked: AnsweringNode): string {
  const { node, pods, nowMs } = asked
  const seconds = (nanoCores: number, startMs: number) => ((nanoCores / 1e9) * Math.max(0, nowMs - startMs)) / 1000
  const rows = pods.flatMap(({ pod, usage }) => {
    const starts = startsOf(pod)
    const { name, namespace } = pod.metadata
    return [...usage].map(([container, { nanoCores, bytes }]) => {
      const labels = `{container=${JSON.stringify(container)},namespace=${JSON.stringify(namespace)},pod=${JSON.stringify(name)}}`
      const startMs = starts.get(container) ?? nowMs
      return { labels, startMs, cpu: seconds(nanoCores, startMs), bytes }
    })
  })
  const whole = usageOfNode(asked)
  const nodeStartMs = Date.parse(node.metadata.creationTimestamp ?? '') || nowMs
  const series: readonly Series[] = [
    {
      name: 'container_cpu_usage_seconds_total',
      type: 'counter',
      help: 'Cumulative cpu time consumed by the container in core-seconds',
      lines: rows.map(({ labels, cpu }) => `${labels} ${cpu} ${nowMs}`),
    },
    {
      name: 'container_memory_working_set_bytes',
      type: 'gauge',
      help: 'Current working set of the container in bytes',
      lines: rows.map(({ labels, bytes }) => `${labels} ${bytes} ${nowMs}`),
    },
    {
      name: 'container_start_time_seconds',
      type: 'gauge',
      help: 'Start time of the container since unix epoch in seconds',
      lines: rows.map(({ labels, startMs }) => `${labels} ${startMs / 1000}`),
    },
    {
      name: 'node_cpu_usage_seconds_total',
      type: 'counter',
      help: 'Cumulative cpu time consumed by the node in core-seconds',
      lines: [` ${seconds(whole.nanoCores, nodeStartMs)} ${nowMs}`],
    },
    {
      name: 'node_memory_working_set_bytes',
      type: 'gauge',
      help: 'Current working set of the node in bytes',
      lines: [` ${whole.bytes} ${nowMs}`],
    },
  ]
  const texts = series.map(({ name, type, help, lines }) =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines.map((line) => `${name}${line}`)].join('\n'),
  )
  return `${texts.join('\n')}\n`
}

/** The usage of a Pod's running containers, by the time since their start. */
export function usageOf(
  pod: Pod,
  scripts: ReadonlyMap<string, { readonly usage: readonly UsageTurn[] }>,
  nowMs: number,
): ReadonlyMap<string, ContainerUsage> {
  const starts = [...startsOf(pod)]
  return new Map(starts.map(([name, startMs]) => [name, usageAt(scripts.get(name)?.usage ?? [], nowMs - startMs)]))
}

/** Maximum measurement window: the interval of metrics-server. */
const windowMs = 15_000

/** A Pod in metrics.k8s.io; undefined if none of its containers is running. */
export function podMetrics({ pod, usage }: UsedPod, names: Names, nowMs: number): object | undefined {
  if (usage.size === 0) return undefined
  const { name, namespace, labels } = pod.metadata
  return {
    ...metricsHead('PodMetrics', names, { name, namespace, labels }, nowMs),
    ...measuredAt(nowMs, Math.min(...startsOf(pod).values())),
    containers: [...usage].map(([container, used]) => ({ name: container, usage: printUsage(used) })),
  }
}

/** A node in metrics.k8s.io. */
export function nodeMetrics(asked: AnsweringNode, names: Names): object {
  const { node, nowMs } = asked
  const { name, labels, creationTimestamp } = node.metadata
  return {
    ...metricsHead('NodeMetrics', names, { name, labels }, nowMs),
    ...measuredAt(nowMs, Date.parse(creationTimestamp ?? '') || nowMs),
    usage: printUsage(usageOfNode(asked)),
  }
}

function metricsHead(kind: string, names: Names, metadata: ObjectMeta, nowMs: number): object {
  const creationTimestamp = printTime(toInstant(nowMs))
  return { kind, apiVersion: `${domainGroup(names, 'metrics')}/v1beta1`, metadata: { ...metadata, creationTimestamp } }
}

function measuredAt(nowMs: number, sinceMs: number): object {
  const seconds = Math.floor(Math.min(windowMs, Math.max(0, nowMs - sinceMs)) / 1000)
  return { timestamp: printTime(toInstant(nowMs)), window: `${seconds}s` }
}

function printUsage({ nanoCores, bytes }: ContainerUsage): Readonly<Record<string, string>> {
  const cpu = printQuantity({ mantissa: BigInt(nanoCores), exponent: -9, format: 'DecimalSI' })
  return { cpu, memory: printQuantity(toQuantity(bytes, 'BinarySI')) }
}
