import { jsonEqual } from '../../json/equal.ts'
import type { Service } from './endpoint-pods.ts'
import type { Endpoint, EndpointSlice, SliceDraft, SlicesPlan } from './slices.ts'

/** The traffic distribution of a Service, which hints express; undefined for no hints. */
export type Distribution = 'zone' | 'node'

/** The first level with hints for the same node, and with names for both distributions. */
const sameNodeSince = 34

export function distributionOf({ spec: { trafficDistribution } }: Service, level: number): Distribution | undefined {
  if (trafficDistribution === 'PreferClose') return 'zone'
  if (level < sameNodeSince) return undefined
  if (trafficDistribution === 'PreferSameZone') return 'zone'
  return trafficDistribution === 'PreferSameNode' ? 'node' : undefined
}

/** The plan with hints in every written slice, and with updates of slices whose hints are wrong. */
export function withHints(plan: SlicesPlan, existing: readonly EndpointSlice[], distribution: Distribution | undefined): SlicesPlan {
  const hinted = (draft: SliceDraft): SliceDraft => ({
    ...draft,
    endpoints: draft.endpoints.map((endpoint) => withHint(endpoint, distribution)),
  })
  const changed = new Set([...plan.updated.map((draft) => draft.existing), ...plan.deleted])
  const wrong = existing
    .filter((slice) => !changed.has(slice) && (slice.endpoints ?? []).some((endpoint) => !isHinted(endpoint, distribution)))
    .map((slice): SliceDraft => ({ existing: slice, ports: slice.ports ?? [], endpoints: slice.endpoints ?? [] }))
  return { created: plan.created.map(hinted), updated: [...plan.updated, ...wrong].map(hinted), deleted: plan.deleted }
}

/** An unready endpoint keeps its hints. */
function withHint(endpoint: Endpoint, distribution: Distribution | undefined): Endpoint {
  if (distribution !== undefined && endpoint.conditions?.ready !== true) return endpoint
  const { hints: _, ...rest } = endpoint
  const hints = hintsOf(endpoint, distribution)
  return hints === undefined ? rest : { ...rest, hints }
}

function isHinted(endpoint: Endpoint, distribution: Distribution | undefined): boolean {
  if (distribution !== undefined && endpoint.conditions?.ready !== true) return true
  return jsonEqual(endpoint.hints ?? null, hintsOf(endpoint, distribution) ?? null)
}

function hintsOf({ zone, nodeName }: Endpoint, distribution: Distribution | undefined): Endpoint['hints'] {
  const forZones = distribution !== undefined && zone != null ? { forZones: [{ name: zone }] } : {}
  const forNodes = distribution === 'node' && nodeName != null ? { forNodes: [{ name: nodeName }] } : {}
  const hints = { ...forZones, ...forNodes }
  return Object.keys(hints).length === 0 ? undefined : hints
}
