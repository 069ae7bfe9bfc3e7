import { jsonEqual } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import type { KindRules } from './kind-rules.ts'

type Endpoint = Readonly<Record<string, unknown>>

/** Labels say which Service a slice is of, so a change of them counts. The topology of endpoints can only be read in v1. */
export const endpointSliceStrategy: KindRules = {
  prepareCreate: dropTopology,
  completeUpdate(object, live) {
    if (!jsonEqual(object['endpoints'] ?? null, live['endpoints'] ?? null)) dropTopology(object)
  },
  countsChange: ({ metadata }, live) => !jsonEqual(metadata.labels ?? {}, live.metadata.labels ?? {}),
}

function dropTopology(object: ApiObject): void {
  const endpoints = object['endpoints'] as readonly Endpoint[] | null | undefined
  if (endpoints?.some(({ deprecatedTopology }) => deprecatedTopology !== undefined) !== true) return
  object['endpoints'] = endpoints.map(({ deprecatedTopology: _dropped, ...endpoint }) => endpoint)
}
