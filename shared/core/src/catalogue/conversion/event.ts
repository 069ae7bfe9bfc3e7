import type { ApiObject } from '../../meta/object-meta.ts'
import { renamed } from './parts.ts'

/** Fields with different names in the two groups: the core name, then the newer name. */
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

/** Converts a core Event to the events group. */
export function coreEventToNewer(event: ApiObject): ApiObject {
  return withNames(event, toNewer)
}

/** Converts an Event of the events group to core. */
export function newerEventToCore(event: ApiObject): ApiObject {
  return withNames(event, toCore)
}

function withNames({ kind, apiVersion, metadata, ...fields }: ApiObject, names: ReadonlyMap<string, string>): ApiObject {
  return { kind, apiVersion, metadata, ...renamed(fields, names) }
}
