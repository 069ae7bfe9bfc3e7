import { optionalPart, type Part, partOf } from '../../validation/part.ts'

/**
 * The two forms of a HorizontalPodAutoscaler's metrics. The newer form has one `target` or `current` with
 * three members. The older form has a field for each, and is also used in annotations.
 */
type Reading = 'target' | 'current'
type Kind = 'object' | 'pods' | 'resource' | 'containerResource' | 'external'

const kinds: readonly Kind[] = ['object', 'pods', 'resource', 'containerResource', 'external']

/** Converts a metric from the newer form to the older. */
export function metricToOlder(metric: Part, reading: Reading): Part {
  return mapSources(metric, (kind, source) => older[kind](source, partOf(source, reading), reading))
}

/** Converts a metric from the older form to the newer. */
export function metricToNewer(metric: Part, reading: Reading): Part {
  return mapSources(metric, (kind, source) => newer[kind](source, reading))
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

/** `targetValue`, `currentAverageValue`: the name of an older field. */
const word = (reading: Reading, rest: string): string => `${reading}${rest}`

const older: Readonly<Record<Kind, (source: Part, amounts: Part, reading: Reading) => Part>> = {
  object: (source, amounts, reading) => ({
    target: source['describedObject'],
    metricName: partOf(source, 'metric')['name'],
    [word(reading, 'Value')]: amounts['value'] ?? '0',
    selector: partOf(source, 'metric')['selector'],
    averageValue: amounts['averageValue'],
  }),
  pods: (source, amounts, reading) => ({
    metricName: partOf(source, 'metric')['name'],
    [word(reading, 'AverageValue')]: amounts['averageValue'],
    selector: partOf(source, 'metric')['selector'],
  }),
  resource: (source, amounts, reading) => ({ name: source['name'], ...olderUsage(amounts, reading) }),
  containerResource: (source, amounts, reading) => ({
    name: source['name'],
    ...olderUsage(amounts, reading),
    container: source['container'],
  }),
  external: (source, amounts, reading) => ({
    metricName: partOf(source, 'metric')['name'],
    metricSelector: partOf(source, 'metric')['selector'],
    [word(reading, 'Value')]: amounts['value'],
    [word(reading, 'AverageValue')]: amounts['averageValue'],
  }),
}

function olderUsage(amounts: Part, reading: Reading): Part {
  return {
    [word(reading, 'AverageUtilization')]: amounts['averageUtilization'],
    [word(reading, 'AverageValue')]: amounts['averageValue'],
  }
}

const newer: Readonly<Record<Kind, (source: Part, reading: Reading) => Part>> = {
  object: (source, reading) => ({
    describedObject: source['target'],
    metric: defined({ name: source['metricName'], selector: source['selector'] }),
    [reading]: amountsOf({ value: source[word(reading, 'Value')], averageValue: source['averageValue'] }, reading),
  }),
  pods: (source, reading) => ({
    metric: defined({ name: source['metricName'], selector: source['selector'] }),
    [reading]: amountsOf({ averageValue: source[word(reading, 'AverageValue')] }, reading),
  }),
  resource: (source, reading) => ({ name: source['name'], [reading]: newerUsage(source, reading) }),
  containerResource: (source, reading) => ({
    name: source['name'],
    container: source['container'],
    [reading]: newerUsage(source, reading),
  }),
  external: (source, reading) => ({
    metric: defined({ name: source['metricName'], selector: source['metricSelector'] }),
    [reading]: amountsOf({ value: source[word(reading, 'Value')], averageValue: source[word(reading, 'AverageValue')] }, reading),
  }),
}

function newerUsage(source: Part, reading: Reading): Part {
  const averageUtilization = source[word(reading, 'AverageUtilization')]
  const averageValue = source[word(reading, 'AverageValue')]
  return amountsOf({ averageUtilization, averageValue }, reading)
}

/** The amounts of a metric. A target states which of its members applies; a measurement does not. */
function amountsOf({ value, averageValue, averageUtilization }: Part, reading: Reading): Part {
  if (reading === 'current') return defined({ value, averageValue, averageUtilization })
  if (averageUtilization !== undefined) return { type: 'Utilization', averageUtilization }
  return averageValue === undefined ? { type: 'Value', value } : { type: 'AverageValue', averageValue }
}
