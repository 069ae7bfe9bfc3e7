import { isJsonObject } from '../../json/member.ts'
import type { ApiObject } from '../../meta/object-meta.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { decoderOf } from '../../schema/decode.ts'
import { itemsOf, optionalPart, type Part, partOf } from '../../validation/part.ts'

/** Annotations in which v1 keeps data for which it has no fields. */
const keepers = ['metrics', 'behavior', 'current-metrics', 'conditions'] as const
type Keeper = (typeof keepers)[number]

export const keeperName = (names: Names, keeper: Keeper): string => subdomainLabel(names, 'autoscaling.alpha', keeper)

/** The names of the annotations that belong to v1. */
export function keeperNames(names: Names): readonly string[] {
  return keepers.map((keeper) => keeperName(names, keeper))
}

const cpuUtilizationDefault = 80

/** A HorizontalPodAutoscaler of v2 in v1: one number for CPU utilization, annotations for everything else. */
export function autoscalerToFirst(autoscaler: ApiObject, names: Names): ApiObject {
  const { metrics: _metrics, behavior, ...spec } = partOf(autoscaler, 'spec')
  const { currentMetrics: _current, conditions, ...status } = partOf(autoscaler, 'status')
  const metrics = itemsOf(partOf(autoscaler, 'spec'), 'metrics')
  const currentMetrics = itemsOf(partOf(autoscaler, 'status'), 'currentMetrics')
  const cpu = metrics.find(isCpuUtilization)
  const currentCpu = currentMetrics.find(isCpu)
  const kept: Record<Keeper, unknown> = {
    metrics: metrics.filter((metric) => metric !== cpu).map((metric) => metricToOlder(metric, 'target')),
    behavior: behavior == null ? undefined : printBehavior(partOf({ behavior }, 'behavior')),
    'current-metrics': currentMetrics.map((metric) => metricToOlder(metric, 'current')),
    conditions,
  }
  return {
    ...autoscaler,
    metadata: { ...autoscaler.metadata, ...annotationsWith(autoscaler, kept, names) },
    spec: { ...spec, targetCPUUtilizationPercentage: usageOf(cpu, 'target') },
    status: { ...status, currentCPUUtilizationPercentage: usageOf(currentCpu, 'current') },
  }
}

/** A HorizontalPodAutoscaler of v1 in v2. It removes the annotations that belong to v1. */
export function autoscalerToSecond(autoscaler: ApiObject, names: Names): ApiObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = partOf(autoscaler, 'spec')
  const { currentCPUUtilizationPercentage: current, ...status } = partOf(autoscaler, 'status')
  const annotations = { ...autoscaler.metadata.annotations }
  const take = (keeper: Keeper): unknown => takeJson(annotations, keeperName(names, keeper))
  const others = readList(take('metrics'), 'MetricSpec', (metric) => metricToNewer(metric, 'target'))
  const measured = readList(take('current-metrics'), 'MetricStatus', (metric) => metricToNewer(metric, 'current'))
  const conditions = readList(take('conditions'), 'HorizontalPodAutoscalerCondition', (condition) => condition)
  const behavior = readBehavior(take('behavior'))
  const metrics = [...others, ...(target === undefined ? [] : [cpuTarget(target)])]
  const { annotations: _annotations, ...metadata } = autoscaler.metadata
  return {
    ...autoscaler,
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...spec,
      metrics: metrics.length === 0 ? [cpuTarget(cpuUtilizationDefault)] : metrics,
      behavior: isOfType('HorizontalPodAutoscalerBehavior', behavior) ? behavior : undefined,
    },
    status: {
      ...status,
      // Null without a measurement, so that an object converted back is unchanged.
      currentMetrics: measured.length > 0 ? measured : current === undefined ? null : [cpuCurrent(current)],
      conditions: conditions.length === 0 ? undefined : conditions,
    },
  }
}

/** A HorizontalPodAutoscaler of v2 in v2beta1: metrics in the older form, an annotation for the behavior. */
export function autoscalerToBeta(autoscaler: ApiObject, names: Names): ApiObject {
  const { metrics: _metrics, behavior, ...spec } = partOf(autoscaler, 'spec')
  const { currentMetrics: _current, ...status } = partOf(autoscaler, 'status')
  const metrics = itemsOf(partOf(autoscaler, 'spec'), 'metrics').map((metric) => metricToOlder(metric, 'target'))
  const currentMetrics = itemsOf(partOf(autoscaler, 'status'), 'currentMetrics').map((metric) => metricToOlder(metric, 'current'))
  const kept = { behavior: behavior == null ? undefined : printBehavior(partOf({ behavior }, 'behavior')) }
  return {
    ...autoscaler,
    metadata: { ...autoscaler.metadata, ...annotationsWith(autoscaler, kept, names) },
    spec: { ...spec, metrics },
    status: { ...status, currentMetrics },
  }
}

/** A HorizontalPodAutoscaler of v2beta1 in v2. */
export function betaAutoscalerToSecond(autoscaler: ApiObject, names: Names): ApiObject {
  const annotations = { ...autoscaler.metadata.annotations }
  const behavior = readBehavior(takeJson(annotations, keeperName(names, 'behavior')))
  for (const name of keeperNames(names)) delete annotations[name]
  const currentMetrics = itemsOf(partOf(autoscaler, 'status'), 'currentMetrics').map((metric) => metricToNewer(metric, 'current'))
  const { annotations: _annotations, ...metadata } = autoscaler.metadata
  return {
    ...autoscaler,
    metadata: { ...metadata, ...(Object.keys(annotations).length === 0 ? {} : { annotations }) },
    spec: {
      ...betaSpecToSecond(partOf(autoscaler, 'spec')),
      behavior: isOfType('HorizontalPodAutoscalerBehavior', behavior) ? behavior : undefined,
    },
    status: { ...partOf(autoscaler, 'status'), currentMetrics: currentMetrics.length === 0 ? null : currentMetrics },
  }
}

/** The spec of v2beta1 with the metrics of v2. */
export function betaSpecToSecond(spec: Part): Part {
  const metrics = itemsOf(spec, 'metrics').map((metric) => metricToNewer(metric, 'target'))
  return { ...spec, metrics: metrics.length === 0 ? [cpuTarget(cpuUtilizationDefault)] : metrics }
}

/**
 * Moves the metric for CPU utilization to the end. Objects that are stored in v1, which knows only that metric, also have it last,
 * and only once.
 */
export function processorsLast<P extends Part>(metrics: readonly P[]): readonly P[] {
  const share = metrics.find(isCpuUtilization)
  return share === undefined ? metrics : [...metrics.filter((metric) => !isCpuUtilization(metric)), share]
}

function isCpu(metric: Part): boolean {
  return metric['type'] === 'Resource' && partOf(metric, 'resource')['name'] === 'cpu'
}

function isCpuUtilization(metric: Part): boolean {
  return isCpu(metric) && usageOf(metric, 'target') !== undefined
}

function usageOf(metric: Part | undefined, reading: 'target' | 'current'): unknown {
  return partOf(optionalPart(metric, 'resource'), reading)['averageUtilization']
}

const cpuTarget = (averageUtilization: unknown): Part => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
})

const cpuCurrent = (averageUtilization: unknown): Part => ({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } })

function annotationsWith(
  { metadata }: ApiObject,
  kept: Partial<Record<Keeper, unknown>>,
  names: Names,
): { annotations?: Record<string, string> } {
  const annotations: Record<string, string> = { ...metadata.annotations }
  for (const keeper of keepers) {
    const value = kept[keeper]
    const isNothing = value === undefined || value === null || (Array.isArray(value) && value.length === 0)
    if (!isNothing) annotations[keeperName(names, keeper)] = JSON.stringify(value)
  }
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}

/** Removes the annotation and returns its parsed value; undefined if it is absent or not JSON. */
function takeJson(annotations: Record<string, string>, name: string): unknown {
  const text = annotations[name]
  delete annotations[name]
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The parts of a list that any client may have written; empty if one has the wrong type. */
function readList(value: unknown, type: string, read: (part: Part) => Part): readonly Part[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) return []
  const parts = value.map(read)
  return parts.every((part) => isOfType(type, part)) ? parts : []
}

function isOfType(type: string, value: unknown): boolean {
  return value !== undefined && decoderOf(`autoscaling/v2.${type}`)(value, { trackUnknown: false }).kind === 'decoded'
}

/**
 * Writes the behavior of a HorizontalPodAutoscaler into the annotation of v1. kube-apiserver prints the names of its internal
 * types there, with null for absent members, and reads names case-insensitively.
 */
function printBehavior(behavior: Part): Part {
  return { ScaleUp: rulesOf(optionalPart(behavior, 'scaleUp')), ScaleDown: rulesOf(optionalPart(behavior, 'scaleDown')) }
}

function rulesOf(rules: Part | undefined): Part | null {
  if (rules === undefined) return null
  return {
    StabilizationWindowSeconds: rules['stabilizationWindowSeconds'] ?? null,
    SelectPolicy: rules['selectPolicy'] ?? null,
    Policies: itemsOf(rules, 'policies').map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    })),
    ...('tolerance' in rules ? { Tolerance: rules['tolerance'] } : {}),
  }
}

/** Reads the behavior in an annotation, with the field names of the newer version; undefined if absent. */
function readBehavior(value: unknown): Part | undefined {
  const read = withFieldNames(value)
  return isJsonObject(read) && Object.keys(read).length > 0 ? read : undefined
}

const fieldNames = new Map(
  ['scaleUp', 'scaleDown', 'tolerance', 'stabilizationWindowSeconds', 'selectPolicy', 'policies', 'type', 'value', 'periodSeconds'].map(
    (name) => [name.toLowerCase(), name],
  ),
)

function withFieldNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withFieldNames)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const field = fieldNames.get(name.toLowerCase())
    return field === undefined || member === null ? [] : [[field, withFieldNames(member)] as const]
  })
  return Object.fromEntries(members)
}

/**
 * The two forms of a HorizontalPodAutoscaler's metrics. The newer form has one `target` or `current` with
 * three members. The older form has a field for each, and is also used in annotations.
 */
type Reading = 'target' | 'current'
type Kind = 'object' | 'pods' | 'resource' | 'containerResource' | 'external'

/** Fields of the older form in the order in which it prints them, with their paths in the newer form. `*` is the reading. */
const pathsByKind: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  object: {
    ...{ target: 'describedObject', metricName: 'metric.name', '*Value': '*.value', selector: 'metric.selector' },
    averageValue: '*.averageValue',
  },
  pods: { metricName: 'metric.name', '*AverageValue': '*.averageValue', selector: 'metric.selector' },
  resource: { name: 'name', '*AverageUtilization': '*.averageUtilization', '*AverageValue': '*.averageValue' },
  containerResource: {
    ...{ name: 'name', '*AverageUtilization': '*.averageUtilization', '*AverageValue': '*.averageValue', container: 'container' },
  },
  external: { metricName: 'metric.name', metricSelector: 'metric.selector', '*Value': '*.value', '*AverageValue': '*.averageValue' },
}

const kinds = Object.keys(pathsByKind) as Kind[]

/** Converts a metric from the newer form to the older. */
function metricToOlder(metric: Part, reading: Reading): Part {
  return mapSources(metric, (kind, source) => toOlder(kind, source, reading))
}

/** Converts a metric from the older form to the newer. */
function metricToNewer(metric: Part, reading: Reading): Part {
  return mapSources(metric, (kind, source) => toNewer(kind, source, reading))
}

function mapSources(metric: Part, change: (kind: Kind, source: Part) => Part): Part {
  const sources = kinds.flatMap((kind) => {
    const source = optionalPart(metric, kind)
    return source === undefined ? [] : [[kind, defined(change(kind, source))] as const]
  })
  return { type: metric['type'], ...Object.fromEntries(sources) }
}

/** Removes undefined members. */
function defined(part: Part): Part {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined))
}

function toOlder(kind: Kind, source: Part, reading: Reading): Part {
  const fields = Object.entries(pathsByKind[kind]).map(([field, path]) => {
    const [name = '', inner] = path.replace('*', reading).split('.')
    // Only this amount is no pointer in the older form.
    const absent = kind === 'object' && path === '*.value' ? '0' : undefined
    return [field.replace('*', reading), (inner === undefined ? source[name] : partOf(source, name)[inner]) ?? absent]
  })
  return Object.fromEntries(fields)
}

function toNewer(kind: Kind, source: Part, reading: Reading): Part {
  const made: Record<string, unknown> = {}
  for (const [field, path] of Object.entries(pathsByKind[kind])) {
    const [name = '', inner] = path.replace('*', reading).split('.')
    const value = source[field.replace('*', reading)]
    made[name] = inner === undefined ? value : defined({ ...partOf(made, name), [inner]: value })
  }
  return { ...made, [reading]: amountsOf(partOf(made, reading), reading) }
}

/** The amounts of a metric. A target states which of its members applies; a measurement does not. */
function amountsOf(amounts: Part, reading: Reading): Part {
  const { value, averageValue, averageUtilization } = amounts
  if (reading === 'current') return amounts
  if (averageUtilization !== undefined) return { type: 'Utilization', averageUtilization }
  return averageValue === undefined ? { type: 'Value', value } : { type: 'AverageValue', averageValue }
}
