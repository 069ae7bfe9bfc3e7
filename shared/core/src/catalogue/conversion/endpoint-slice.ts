import { isJsonObject } from '../../json/member.ts'
import type { ApiObject } from '../../meta/object-meta.ts'
import { domainLabel, type Names, subdomainLabel } from '../../names.ts'
import { type Json, withItems } from './parts.ts'

/** Converts an EndpointSlice from v1beta1 to v1. */
export function sliceToFirst(slice: ApiObject, names: Names): ApiObject {
  return withItems(slice, 'endpoints', (endpoint) => endpointToFirst(endpoint, names))
}

/** Converts an endpoint from v1beta1 to v1: its zone becomes a field, and its node is stated once. */
export function endpointToFirst({ topology, ...endpoint }: Json, names: Names): Json {
  if (!isJsonObject(topology)) return endpoint
  const { [zoneLabel(names)]: zone, ...others } = topology
  const { [hostLabel(names)]: host, ...places } = others
  const kept = host !== undefined && host === endpoint['nodeName'] ? places : others
  return {
    ...endpoint,
    ...(Object.keys(kept).length === 0 ? {} : { deprecatedTopology: kept }),
    ...(zone === undefined ? {} : { zone }),
  }
}

/** Converts an EndpointSlice from v1 to v1beta1: an endpoint's zone and node become labels. */
export function sliceToBeta(slice: ApiObject, names: Names): ApiObject {
  return withItems(slice, 'endpoints', ({ deprecatedTopology, zone, ...endpoint }) => {
    const { nodeName } = endpoint
    if (!isJsonObject(deprecatedTopology) && zone === undefined && nodeName === undefined) return endpoint
    const topology: Record<string, unknown> = { ...(isJsonObject(deprecatedTopology) ? deprecatedTopology : {}) }
    if (zone !== undefined) topology[zoneLabel(names)] = zone
    if (nodeName !== undefined && !topology[hostLabel(names)]) topology[hostLabel(names)] = nodeName
    return { ...endpoint, topology }
  })
}

function zoneLabel(names: Names): string {
  return subdomainLabel(names, 'topology', 'zone')
}

function hostLabel(names: Names): string {
  return domainLabel(names, 'hostname')
}
