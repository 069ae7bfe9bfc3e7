import { type Names, subdomainLabel } from '../names.ts'
import type { Node } from '../workloads/pods.ts'
import type { ReadyStatus } from './health.ts'

/** The state of a zone by its nodes. A zone is Initial until its first look. */
export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption'

/** States of zones, by key. */
export type ZoneStates = ReadonlyMap<string, ZoneState>

/** Statuses of Ready of the nodes of each zone. Undefined: the node has not reported yet. */
export type ZoneNodes = ReadonlyMap<string, readonly (ReadyStatus | undefined)[]>

export interface ZoneOptions {
  /** Nodes a second that get a taint NoExecute in a zone. */
  readonly evictionRate: number
  /** The same in a large zone that is partly down; a small one gets none. */
  readonly secondaryEvictionRate: number
  /** Nodes beyond which a zone is large. */
  readonly largeZoneSize: number
  /** Share of nodes that are not ready from which on a zone is partly down. */
  readonly unhealthyShare: number
}

/** The zone of a node: region and zone of its labels. '': it has neither (NODE-LC-10). */
export function zoneKeyOf(names: Names, { labels = {} }: Node['metadata']): string {
  const of = (name: string) =>
    labels[subdomainLabel(names, 'failure-domain.beta', name)] ?? labels[subdomainLabel(names, 'topology', name)] ?? ''
  const [region, zone] = [of('region'), of('zone')]
  return region === '' && zone === '' ? '' : `${region}:\u0000:${zone}`
}

/** True if the node does not count for the state of its zone. */
export function isExcluded(names: Names, { labels = {} }: Node['metadata']): boolean {
  return Object.hasOwn(labels, subdomainLabel(names, 'node', 'exclude-disruption'))
}

/** The state of a zone whose nodes have these statuses (NODE-LC-10). */
export function zoneState(statuses: readonly (ReadyStatus | undefined)[], unhealthyShare: number): Exclude<ZoneState, 'Initial'> {
  const notReady = statuses.filter((status) => status !== 'True').length
  if (notReady === statuses.length && notReady > 0) return 'FullDisruption'
  // Upstream compares numbers of 32 bits.
  const isPartial = notReady > 2 && Math.fround(notReady / statuses.length) >= Math.fround(unhealthyShare)
  return isPartial ? 'PartialDisruption' : 'Normal'
}

/** Nodes a second that get a taint in a zone (NODE-LC-11). */
export function evictionRate(state: ZoneState, size: number, options: ZoneOptions): number {
  if (state !== 'PartialDisruption') return options.evictionRate
  return size > options.largeZoneSize ? options.secondaryEvictionRate : 0
}

/** The zones after a look. */
export interface ZoneStep {
  readonly states: ZoneStates
  /** New rates of zones, in nodes a second. */
  readonly rates: ReadonlyMap<string, number>
  /** `stopped`: all zones are down, from now on. `resumed`: one is not, for the first time. */
  readonly turn: 'stopped' | 'resumed' | undefined
}

/**
 * Judges the zones anew (NODE-LC-11). While all of them are down, no node is at fault, and none gets a taint.
 *
 *   a Normal, b Normal → b FullDisruption        b has the usual rate
 *   a, b Normal → both FullDisruption            stopped: rates are 0
 *   both FullDisruption → a Normal               resumed: rates by state
 */
export function stepZones(before: ZoneStates, nodes: ZoneNodes, options: ZoneOptions): ZoneStep {
  const known = new Map([...nodes.keys()].map((zone): [string, ZoneState] => [zone, before.get(zone) ?? 'Initial']))
  const states = new Map([...nodes].map(([zone, statuses]): [string, ZoneState] => [zone, zoneState(statuses, options.unhealthyShare)]))
  const isAllDown = [...states.values()].every((state) => state === 'FullDisruption')
  const wasAllDown = [...known.values()].every((state) => state === 'FullDisruption')
  if (isAllDown && wasAllDown) return { states: known, rates: new Map(), turn: undefined }
  if (isAllDown) return { states, rates: new Map([...states.keys()].map((zone) => [zone, 0])), turn: 'stopped' }
  const changed = [...states].filter(([zone, state]) => wasAllDown || known.get(zone) !== state)
  const rates = new Map(changed.map(([zone, state]) => [zone, evictionRate(state, nodes.get(zone)?.length ?? 0, options)]))
  return { states, rates, turn: wasAllDown ? 'resumed' : undefined }
}
