import { type Names, subdomainLabel } from '../names.ts'
import type { Node } from '../workloads/pods.ts'
import type { ReadyStatus } from './health.ts'

/** The state of a zone, from its nodes. A zone is Initial until its first check. */
export type ZoneState = 'Initial' | 'Normal' | 'PartialDisruption' | 'FullDisruption'

/** States of zones, by key. */
export type ZoneStates = ReadonlyMap<string, ZoneState>

/** The statuses of Ready in each zone; undefined for a node that has not reported. */
export type ZoneNodes = ReadonlyMap<string, readonly (ReadyStatus | undefined)[]>

export interface ZoneOptions {
  /** Nodes per second in a zone that get a NoExecute taint. */
  readonly evictionRate: number
  /** The rate in a partly disrupted large zone; a small one has rate 0. */
  readonly secondaryEvictionRate: number
  /** A zone with more nodes is large. */
  readonly largeZoneSize: number
  /** Minimum share of unready nodes in a partly disrupted zone. */
  readonly unhealthyShare: number
}

/** The zone of a node, from its region and zone labels; '' without labels (NODE-LC-10). */
export function zoneKeyOf(names: Names, { labels = {} }: Node['metadata']): string {
  const of = (name: string) =>
    labels[subdomainLabel(names, 'failure-domain.beta', name)] ?? labels[subdomainLabel(names, 'topology', name)] ?? ''
  const [region, zone] = [of('region'), of('zone')]
  return region === '' && zone === '' ? '' : `${region}:\u0000:${zone}`
}

/** True if the node is ignored for the state of its zone. */
export function isExcluded(names: Names, { labels = {} }: Node['metadata']): boolean {
  return Object.hasOwn(labels, subdomainLabel(names, 'node', 'exclude-disruption'))
}

/** The state of a zone with these statuses (NODE-LC-10). */
export function zoneState(statuses: readonly (ReadyStatus | undefined)[], unhealthyShare: number): Exclude<ZoneState, 'Initial'> {
  const notReady = statuses.filter((status) => status !== 'True').length
  if (notReady === statuses.length && notReady > 0) return 'FullDisruption'
  // Upstream compares 32-bit numbers.
  const isPartial = notReady > 2 && Math.fround(notReady / statuses.length) >= Math.fround(unhealthyShare)
  return isPartial ? 'PartialDisruption' : 'Normal'
}

/** Nodes per second in a zone that get a taint (NODE-LC-11). */
export function evictionRate(state: ZoneState, size: number, options: ZoneOptions): number {
  if (state !== 'PartialDisruption') return options.evictionRate
  return size > options.largeZoneSize ? options.secondaryEvictionRate : 0
}

/** The zones after another check. */
export interface ZoneStep {
  readonly states: ZoneStates
  /** Changed rates of zones, in nodes per second. */
  readonly rates: ReadonlyMap<string, number>
  /** `stopped`: now all zones are fully disrupted. `resumed`: one is not any more. */
  readonly turn: 'stopped' | 'resumed' | undefined
}

/**
 * Computes the states of zones (NODE-LC-11). While all zones are fully disrupted, the cause is not in the nodes, so no node gets a taint.
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
