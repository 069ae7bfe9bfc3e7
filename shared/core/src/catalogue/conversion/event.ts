import type { ApiObject } from '../../meta/object-meta.ts'

/** Fields that the two groups call differently: the core name, then the newer one. */
const pairs: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]
const toNewer = new Map(pairs)
const toCore = new Map(pairs.map(([core, newer]) => [newer, core]))

/** A core Event as the events group has it. */
export function coreEventToNewer(event: ApiObject): ApiObject {
  return renamed(event, toNewer)
}

/** An Event of the events group as the core group has it. */
export function newerEventToCore(event: ApiObject): ApiObject {
  return renamed(event, toCore)
}

function renamed(event: ApiObject, names: ReadonlyMap<string, string>): ApiObject {
  const { kind, apiVersion, metadata, ...fields } = event
  const others = Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value])
  return { kind, apiVersion, metadata, ...Object.fromEntries(others) }
}
