import type { Endpoint, EndpointSlice, SliceDraft, SlicesPlan } from './slices.ts'

/** The fraction by which a zone's traffic may exceed its share of CPU. */
const overloadThreshold = 0.2

/** A node for computing zone shares. */
export interface ZonedNode {
  readonly isReady: boolean
  /** Undefined if the node has no zone. */
  readonly zone?: string | undefined
  /** Allocatable millicores. */
  readonly cpuMilli: number
}

/** Shares of CPU by zone, with a sum of 1; undefined if a node lacks data or there is only one zone. */
export function sharesOfZones(nodes: readonly ZonedNode[]): ReadonlyMap<string, number> | undefined {
  const cpu = new Map<string, number>()
  let total = 0
  for (const { zone = '', cpuMilli } of nodes.filter(({ isReady }) => isReady)) {
    if (zone === '' || cpuMilli === 0) return undefined
    cpu.set(zone, (cpu.get(zone) ?? 0) + cpuMilli)
    total += cpuMilli
  }
  if (cpu.size < 2) return undefined
  return new Map([...cpu].map(([zone, milli]) => [zone, milli / total]))
}

interface Allocation {
  readonly minimum: number
  readonly maximum: number
  readonly desired: number
}

export type TopologyHints =
  | { readonly kind: 'hints'; readonly plan: SlicesPlan }
  /** No endpoint gets hints; the message is the reason. */
  | { readonly kind: 'none'; readonly message: string }

/**
 * Hints that distribute endpoints over zones by CPU. Endpoints serve their own zone. A zone with fewer endpoints than its share gets endpoints from
 * zones with more. Slices that may stay unchanged are not written.
 *
 *   three zones alike, three endpoints in three zones    each serves its own
 *   three zones alike, two endpoints                     none: `Insufficient number of endpoints (2 endpoints, 3 zones)`
 */
export function topologyHints(
  plan: SlicesPlan,
  existing: readonly EndpointSlice[],
  shares: ReadonlyMap<string, number> | undefined,
): TopologyHints {
  if (shares === undefined) {
    return { kind: 'none', message: 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes' }
  }
  const changed = new Set([...plan.updated.map((draft) => draft.existing), ...plan.deleted])
  const unchanged = existing.filter((slice) => !changed.has(slice))
  const drafts = [...plan.created, ...plan.updated]
  const readyCount = [...drafts, ...unchanged].flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady)).length
  const allocations = allocate(shares, readyCount)
  if (typeof allocations === 'string') return { kind: 'none', message: allocations }
  const counts = new Map<string, number>()
  const wrong: SliceDraft[] = []
  for (const slice of unchanged) {
    const hinted = countHints(slice, counts, allocations)
    if (hinted === undefined) wrong.push({ existing: slice, ports: slice.ports ?? [], endpoints: slice.endpoints ?? [] })
    else for (const [zone, count] of hinted) counts.set(zone, (counts.get(zone) ?? 0) + count)
  }
  const written = [...drafts, ...wrong]
  for (const { zone } of written.flatMap(({ endpoints }) => endpoints.filter(isReady))) {
    if (zone == null || zone === '') return { kind: 'none', message: 'One or more endpoints do not have a zone specified' }
    counts.set(zone, (counts.get(zone) ?? 0) + 1)
  }
  const transfers = transfersOf(allocations, counts)
  const hinted = written.map((draft) => ({ ...draft, endpoints: draft.endpoints.map((endpoint) => withZone(endpoint, transfers)) }))
  if (counts.size === 0) return { kind: 'none', message: 'No hints allocated for zones' }
  const createdCount = plan.created.length
  return { kind: 'hints', plan: { created: hinted.slice(0, createdCount), updated: hinted.slice(createdCount), deleted: plan.deleted } }
}

function isReady({ conditions }: Endpoint): boolean {
  return conditions?.ready === true
}

/** The allowed numbers of endpoints per zone, or the reason why there are none. */
function allocate(shares: ReadonlyMap<string, number>, count: number): ReadonlyMap<string, Allocation> | string {
  const numbers = `(${count} endpoints, ${shares.size} zones)`
  if (shares.size > count) return `Insufficient number of endpoints ${numbers}`
  const minimums = [...shares].map(([zone, share]) => {
    const desired = share * count
    const minimum = Math.ceil(desired * (1 / (1 + overloadThreshold)))
    return { zone, minimum, desired: Math.max(desired, minimum) }
  })
  const total = minimums.reduce((sum, { minimum }) => sum + minimum, 0)
  if (total > count) return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${numbers}`
  return new Map(minimums.map(({ zone, minimum, desired }) => [zone, { minimum, desired, maximum: minimum + count - total }]))
}

/** The hints of a slice that may stay unchanged; undefined if it must be written. */
function countHints(
  { endpoints }: EndpointSlice,
  before: ReadonlyMap<string, number>,
  allocations: ReadonlyMap<string, Allocation>,
): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>()
  for (const { hints } of (endpoints ?? []).filter(isReady)) {
    const zones = hints?.forZones ?? []
    if (zones.length === 0 || zones.some(({ name }) => !allocations.has(name))) return undefined
    for (const { name } of zones) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const isOver = ([zone, count]: [string, number]) => count + (before.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0)
  return [...counts].some(isOver) ? undefined : counts
}

interface Transfers {
  readonly giving: Map<string, number>
  readonly receiving: Map<string, number>
}

/** The numbers of endpoints that zones give to and get from other zones. */
function transfersOf(allocations: ReadonlyMap<string, Allocation>, counts: ReadonlyMap<string, number>): Transfers {
  const surplus = new Map<string, number>()
  const lack = new Map<string, number>()
  for (const [zone, { desired }] of allocations) {
    const difference = (counts.get(zone) ?? 0) - desired
    if (difference > 0) surplus.set(zone, difference)
    if (difference < 0) lack.set(zone, -difference)
  }
  const transfers: Transfers = { giving: new Map(), receiving: new Map() }
  for (;;) {
    const [from, to] = [most(surplus), most(lack)]
    if (from === undefined || to === undefined || (from.count < 1 && to.count < 1) || from.count < 0.5 || to.count < 0.5) return transfers
    transfers.giving.set(from.zone, (transfers.giving.get(from.zone) ?? 0) + 1)
    transfers.receiving.set(to.zone, (transfers.receiving.get(to.zone) ?? 0) + 1)
    surplus.set(from.zone, from.count - 1)
    lack.set(to.zone, to.count - 1)
  }
}

function most(zones: ReadonlyMap<string, number>): { readonly zone: string; readonly count: number } | undefined {
  let found: { zone: string; count: number } | undefined
  for (const [zone, count] of zones) if (count > (found?.count ?? 0)) found = { zone, count }
  return found
}

/** The endpoint with its zone, or with a zone that lacks endpoints. */
function withZone(endpoint: Endpoint, { giving, receiving }: Transfers): Endpoint {
  const { zone } = endpoint
  if (!isReady(endpoint) || zone == null) return endpoint
  const [target] = (giving.get(zone) ?? 0) > 0 ? receiving.keys() : []
  if (target !== undefined) {
    giving.set(zone, (giving.get(zone) ?? 0) - 1)
    const left = (receiving.get(target) ?? 0) - 1
    if (left > 0) receiving.set(target, left)
    else receiving.delete(target)
  }
  return { ...endpoint, hints: { forZones: [{ name: target ?? zone }] } }
}
