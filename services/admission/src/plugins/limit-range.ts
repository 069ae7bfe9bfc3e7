import { parseQuantity, printQuantity, type Quantity } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import type { Amounts, Container, Pod } from './pod.ts'

/** Quantities by resource name, in alphabetical order. */
export type QuantityMap = ReadonlyMap<string, Quantity>

/** One item of a LimitRange. */
export interface LimitItem {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  readonly type: string
  readonly min: QuantityMap
  readonly max: QuantityMap
  readonly maxLimitRequestRatio: QuantityMap
  readonly default: QuantityMap
  readonly defaultRequest: QuantityMap
}

/** The items of a LimitRange's spec. */
export function limitsOf({ limits }: BuiltIn<'core/v1.LimitRangeSpec'>): readonly LimitItem[] {
  return (limits ?? []).map(({ type, min, max, maxLimitRequestRatio, default: limit, defaultRequest }) => ({
    type,
    min: quantitiesOf(min),
    max: quantitiesOf(max),
    maxLimitRequestRatio: quantitiesOf(maxLimitRequestRatio),
    default: quantitiesOf(limit),
    defaultRequest: quantitiesOf(defaultRequest),
  }))
}

/** The quantities were validated when they were written. */
export function quantitiesOf(amounts: Amounts | null | undefined): QuantityMap {
  const quantities = new Map<string, Quantity>()
  for (const name of Object.keys(amounts ?? {}).sort()) {
    const quantity = parseQuantity(String(amounts?.[name]))
    if (quantity !== undefined) quantities.set(name, quantity)
  }
  return quantities
}

/** The Pod with default values for its containers, and an annotation that lists them. */
export function withDefaults(pod: Pod, limits: readonly LimitItem[], annotation: string): Pod {
  const items = limits.filter(({ type }) => type === 'Container')
  const wanted = { limits: merged(items.map((item) => item.default)), requests: merged(items.map((item) => item.defaultRequest)) }
  const notes: string[] = []
  const containers = pod.spec.containers?.map((container) => completed(container, wanted, 'container', notes)) ?? null
  const initContainers = pod.spec.initContainers?.map((container) => completed(container, wanted, 'init container', notes))
  if (notes.length === 0) return pod
  const annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` }
  const spec = { ...pod.spec, containers, ...(initContainers === undefined ? {} : { initContainers }) }
  return { ...pod, metadata: { ...pod.metadata, annotations }, spec }
}

/** Joins maps; the last quantity of a resource wins. */
function merged(maps: readonly QuantityMap[]): QuantityMap {
  return new Map(maps.flatMap((map) => [...map]))
}

interface Wanted {
  readonly limits: QuantityMap
  readonly requests: QuantityMap
}

function completed(container: Container, wanted: Wanted, what: string, notes: string[]): Container {
  const { requests, limits } = container.resources ?? {}
  const missing = {
    requests: [...wanted.requests].filter(([name]) => requests?.[name] === undefined),
    limits: [...wanted.limits].filter(([name]) => limits?.[name] === undefined),
  }
  if (missing.requests.length === 0 && missing.limits.length === 0) return container
  const noteOf = (kind: string, added: readonly (readonly [string, Quantity])[]) => {
    if (added.length > 0) notes.push(`${names(added)} ${kind} for ${what} ${container.name}`)
  }
  noteOf('request', missing.requests)
  noteOf('limit', missing.limits)
  const resources = {
    ...container.resources,
    ...(missing.limits.length === 0 ? {} : { limits: { ...limits, ...printed(missing.limits) } }),
    ...(missing.requests.length === 0 ? {} : { requests: { ...requests, ...printed(missing.requests) } }),
  }
  return { ...container, resources }
}

function names(added: readonly (readonly [string, Quantity])[]): string {
  return added
    .map(([name]) => name)
    .sort()
    .join(', ')
}

function printed(amounts: readonly (readonly [string, Quantity])[]): Amounts {
  return Object.fromEntries(amounts.map(([name, quantity]) => [name, printQuantity(quantity)]))
}
