import { printQuantity, type QuantityFormat } from '../../meta/quantity.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import { isReadyPod } from '../pods.ts'
import { printSelector } from '../print-selector.ts'
import { averageReplicas, averageValueReplicas, noPods, type PodsUse, type Proposal, resourceReplicas, valueReplicas } from './replicas.ts'
import { type MetricValue, metricSamples, milliIn, type PodMetrics, podSamples, type Reading } from './samples.ts'

export type MetricSpec = BuiltIn<'autoscaling/v2.MetricSpec'>
type MetricTarget = BuiltIn<'autoscaling/v2.MetricTarget'>

/** The answer of the metrics API for a metric. */
export type MetricAnswer = Reading<
  | { readonly kind: 'pods'; readonly items: readonly PodMetrics[] }
  | { readonly kind: 'custom'; readonly items: readonly MetricValue[] }
  | { readonly kind: 'external'; readonly items: readonly { readonly value?: string }[] }
>

export interface MetricUse extends PodsUse {
  readonly namespace: string
  readonly statusReplicas: number
  readonly hasPodRequests: boolean
}

/** The proposal of one metric, or the reason why it has none. */
export type MetricResult =
  | {
      readonly kind: 'proposed'
      readonly replicas: number
      /** The metric's name in events and conditions. */
      readonly name: string
      readonly status: object
    }
  | {
      readonly kind: 'failed'
      readonly reason: string
      /** The message of its event. */
      readonly message: string
      /** The text in the event about all metrics. */
      readonly summary: string
    }

/** The first level that prints memory in binary units such as Mi. */
const binarySince = 34
/** Below this level, the message of a failure for an average value mentions utilization. */
const usageSince = 26
/** Below this level, the metric of a container is named like that of a resource. */
const containerSince = 27
/** Below this level, the message about an unreadable metric of an object has another order of words. */
const objectInOrderSince = 37

/** Evaluates one metric, with upstream's names and messages. */
export function evaluateMetric(spec: MetricSpec, answer: MetricAnswer, use: MetricUse, nowMs: number): MetricResult {
  const { resource, containerResource, pods, object, external } = spec
  if (resource != null) return ofResource({ ...resource, kind: 'resource' }, answer, use, nowMs)
  if (containerResource != null) return ofResource({ ...containerResource, kind: 'containerResource' }, answer, use, nowMs)
  if (pods != null) return ofPods(pods, answer, use, nowMs)
  if (object != null) return ofObject(object, answer, use)
  return ofExternal(external ?? noExternal, answer, use)
}

/** A placeholder, because the API requires every metric to have its source. */
const noExternal = { metric: { name: '' }, target: { type: '' } }

interface ResourceMetric {
  readonly kind: 'resource' | 'containerResource'
  readonly name: string
  readonly container?: string
  readonly target: MetricTarget
}

function ofResource({ kind, name, container, target }: ResourceMetric, answer: MetricAnswer, use: MetricUse, nowMs: number): MetricResult {
  const hasAverage = target.averageValue != null
  const proposal = proposeForResource({ name, container, target }, answer, use, nowMs)
  if (proposal.kind === 'error') {
    const message = `failed to get ${name} ${hasAverage && use.level >= usageSince ? 'usage' : 'utilization'}: ${proposal.message}`
    return kind === 'resource'
      ? { kind: 'failed', reason: 'FailedGetResourceMetric', message, summary: `failed to get ${name} resource metric value: ${message}` }
      : {
          kind: 'failed',
          reason: 'FailedGetContainerResourceMetric',
          message,
          summary: `failed to get ${container} container metric value: ${message}`,
        }
  }
  const format = name === 'memory' && use.level >= binarySince ? 'BinarySI' : 'DecimalSI'
  const { replicas, utilization: averageUtilization, averageMilli } = proposal
  const current = {
    averageValue: printMilli(averageMilli, format),
    ...(averageUtilization !== undefined && { averageUtilization }),
  }
  const shown = { name, current, ...(container !== undefined && { container }) }
  const status = kind === 'resource' ? { type: 'Resource', resource: shown } : { type: 'ContainerResource', containerResource: shown }
  const what = kind === 'resource' || use.level < containerSince ? 'resource' : 'container resource'
  return {
    kind: 'proposed',
    replicas,
    name: hasAverage ? `${name} resource` : `${name} ${what} utilization (percentage of request)`,
    status,
  }
}

/** The proposal of a resource metric, or a failure without the surrounding texts. */
export function proposeForResource(
  { name, container, target }: Omit<ResourceMetric, 'kind'>,
  answer: MetricAnswer,
  use: MetricUse,
  nowMs: number,
): Proposal {
  const reading = answer.kind === 'failed' ? answer : podSamples(answer.value.kind === 'pods' ? answer.value.items : [], name, container)
  if (reading.kind === 'failed') return { kind: 'error', message: `unable to get metrics for resource ${name}: ${reading.message}` }
  const samples = reading.value
  const { averageValue, averageUtilization } = target
  if (averageValue != null) return averageValueReplicas({ ...use, samples, resource: name, targetMilli: milliIn(averageValue) ?? 0 }, nowMs)
  return resourceReplicas({ ...use, samples, resource: name, container, targetUtilization: averageUtilization ?? 0 }, nowMs)
}

function ofPods({ metric, target }: NonNullable<MetricSpec['pods']>, answer: MetricAnswer, use: MetricUse, nowMs: number): MetricResult {
  const { name } = metric
  const failed = (message: string): MetricResult => ({
    kind: 'failed',
    reason: 'FailedGetPodsMetric',
    message,
    summary: `failed to get pods metric value: ${message}`,
  })
  const reading = answer.kind === 'failed' ? answer : metricSamples(answer.value.kind === 'custom' ? answer.value.items : [])
  if (reading.kind === 'failed') return failed(`unable to get metric ${name}: ${reading.message}`)
  const proposal = averageValueReplicas({ ...use, samples: reading.value, targetMilli: milliIn(target.averageValue) ?? 0 }, nowMs)
  if (proposal.kind === 'error') return failed(proposal.message)
  const pods = { metric, current: { averageValue: printMilli(proposal.averageMilli) } }
  return { kind: 'proposed', replicas: proposal.replicas, name: `pods metric ${name}`, status: { type: 'Pods', pods } }
}

function ofObject(
  { describedObject, metric, target }: NonNullable<MetricSpec['object']>,
  answer: MetricAnswer,
  use: MetricUse,
): MetricResult {
  const { name } = metric
  const isValue = target.type === 'Value'
  const failed = (message: string): MetricResult => {
    const inner = isValue ? message : `failed to get ${name} object metric: ${message}`
    return { kind: 'failed', reason: 'FailedGetObjectMetric', message, summary: `failed to get object metric value: ${inner}` }
  }
  const reading = readObjectValue(answer)
  if (reading.kind === 'failed') {
    const { kind, name: of } = describedObject
    const isInOrder = use.level >= objectInOrderSince
    const text = isInOrder
      ? ` on ${kind} ${use.namespace}/${of}: ${reading.message}`
      : `: ${kind} on ${use.namespace} ${of}/${reading.message}`
    return failed(`unable to get metric ${name}${text}`)
  }
  const proposal = proposeForValue(reading.value, target, use)
  if (proposal.kind === 'error') return failed(proposal.message)
  return {
    kind: 'proposed',
    replicas: proposal.replicas,
    // Upstream uses this name too.
    name: isValue ? `${describedObject.kind} metric ${name}` : `external metric ${name}(${printSelector(metric.selector)})`,
    status: { type: 'Object', object: { metric, describedObject, current: proposal.current } },
  }
}

function readObjectValue(answer: MetricAnswer): Reading<number> {
  if (answer.kind === 'failed') return answer
  const [only] = answer.value.kind === 'custom' ? answer.value.items : []
  return { kind: 'read', value: milliIn(only?.value) ?? 0 }
}

function ofExternal({ metric, target }: NonNullable<MetricSpec['external']>, answer: MetricAnswer, use: MetricUse): MetricResult {
  const { name } = metric
  const isAverage = target.averageValue != null
  const failed = (message: string): MetricResult => {
    const inner = isAverage ? `failed to get ${name} external metric: ${message}` : `failed to get external metric ${name}: ${message}`
    return { kind: 'failed', reason: 'FailedGetExternalMetric', message, summary: `failed to get ${name} external metric value: ${inner}` }
  }
  const selector = printSelector(metric.selector)
  if (answer.kind === 'failed') return failed(`unable to get external metric ${use.namespace}/${name}/${selector}: ${answer.message}`)
  let usedMilli = 0
  for (const { value } of answer.value.kind === 'external' ? answer.value.items : []) usedMilli += milliIn(value) ?? 0
  const proposal = proposeForValue(usedMilli, target, use)
  if (proposal.kind === 'error') return failed(proposal.message)
  const status = { type: 'External', external: { metric, current: proposal.current } }
  return { kind: 'proposed', replicas: proposal.replicas, name: `external metric ${name}(${selector})`, status }
}

type ValueProposal =
  | { readonly kind: 'replicas'; readonly replicas: number; readonly current: object }
  | { readonly kind: 'error'; readonly message: string }

function proposeForValue(usedMilli: number, { averageValue, value }: MetricTarget, use: MetricUse): ValueProposal {
  const { currentReplicas, statusReplicas, tolerance, pods } = use
  if (averageValue != null) {
    const { replicas, averageMilli } = averageReplicas(usedMilli, { statusReplicas, targetMilli: milliIn(averageValue) ?? 0, tolerance })
    return { kind: 'replicas', replicas, current: { averageValue: printMilli(averageMilli) } }
  }
  const ready = pods.filter((pod) => pod.status.phase === 'Running' && isReadyPod(pod))
  const readyPods = pods.length === 0 ? undefined : ready.length
  const replicas = valueReplicas(usedMilli, { currentReplicas, targetMilli: milliIn(value) ?? 0, tolerance, readyPods })
  if (replicas === undefined) return { kind: 'error', message: `unable to calculate ready pods: ${noPods}` }
  return { kind: 'replicas', replicas, current: { value: printMilli(usedMilli) } }
}

function printMilli(milli: number, format: QuantityFormat = 'DecimalSI'): string {
  return printQuantity({ mantissa: BigInt(milli), exponent: -3, format })
}
