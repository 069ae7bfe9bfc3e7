import { jsonEqual } from '@orch/core/json'
import type { MutableBuiltIn } from '@orch/core/schema'
import type { RulesOf } from './kind-rules.ts'

/** Labels name the Service of a slice, so a change of labels counts. The topology of endpoints is read-only in v1. */
export const endpointSliceStrategy: RulesOf<'discovery/v1.EndpointSlice'> = {
  prepareCreate: dropTopology,
  completeUpdate(object, live) {
    if (!jsonEqual(object.endpoints, live.endpoints)) dropTopology(object)
  },
  countsChange: ({ metadata }, live) => !jsonEqual(metadata.labels ?? {}, live.metadata.labels ?? {}),
}

function dropTopology(object: MutableBuiltIn<'discovery/v1.EndpointSlice'>): void {
  const { endpoints } = object
  if (endpoints?.some(({ deprecatedTopology }) => deprecatedTopology !== undefined) !== true) return
  object.endpoints = endpoints.map(({ deprecatedTopology: _dropped, ...endpoint }) => endpoint)
}
