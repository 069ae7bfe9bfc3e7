import { optionalPart, type Part, partOf } from '../../validation/part.ts'

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
export function metricToOlder(metric: Part, reading: Reading): Part {
  return mapSources(metric, (kind, source) => toOlder(kind, source, reading))
}

/** Converts a metric from the older form to the newer. */
export function metricToNewer(metric: Part, reading: Reading): Part {
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
