import type { Catalogue, Resource } from '@orch/core/catalogue'
import { everything, type FieldRequirement, type Selection } from '@orch/core/contracts'
import { resolveSelection } from '@orch/core/read'
import type { Query } from '../request/request-info.ts'
import type { Served } from './target.ts'

/** The selected objects of a request: the scope and the selectors. */
export type Range = ReturnType<typeof rangeOf>

/** The dependencies of reading selectors. */
export interface SelectionParts {
  readonly isGateOn: Catalogue['isGateOn']
  /** Minor version of the release whose messages refusals have. */
  readonly level: number
}

export interface Place {
  readonly namespace: string
  readonly name: string
}

/** The objects of a list, watch or deletecollection. The terms come from this request, never from a token. */
export function rangeOf(served: Served, place: Place, query: Query, parts: SelectionParts) {
  const selection = query.isEmpty ? everything : readSelection(served, query, parts)
  const name = place.name === '' ? undefined : place.name
  const namespace = place.namespace === '' || !served.resource.isNamespaced ? namespaceOf(served, selection.fields) : place.namespace
  const scope = {
    resource: served.resource.stored.prefix,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
  return { scope, selection }
}

function readSelection({ resource }: Served, query: Query, { isGateOn, level }: SelectionParts): Selection {
  const labelSelector = query.get('labelSelector')
  const fieldSelector = query.get('fieldSelector')
  // Without the gate the client can see that the shard was ignored: the list does not mention it.
  const shardSelector = isGateOn('ShardedListAndWatch') ? query.get('shardSelector') : undefined
  const isCustom = resource.definedBy !== undefined
  const labels = Object.keys(resource.fieldLabels)
  const supportedFields = isCustom && !resource.isNamespaced ? labels.filter((label) => label !== 'metadata.namespace') : labels
  const namedKind = resource.isNamedBySelectors ? resource.kind : undefined
  const namedVersion = resource.isNamedBySelectors === 'withVersion' ? resource.apiVersion : undefined
  const named = { namedKind, namedVersion, level }
  const resolved = resolveSelection({ labelSelector, fieldSelector, shardSelector, supportedFields, isCustom, ...named })
  if (resolved.kind === 'refused') throw resolved.error
  const { fields } = resolved.selection
  return fields.length === 0 ? resolved.selection : { ...resolved.selection, fields: fields.map((term) => toStoredField(resource, term)) }
}

/** Fields are selected in the form of the stored object. */
function toStoredField({ fieldLabels }: Resource, term: FieldRequirement): FieldRequirement {
  const field = fieldLabels[term.field] ?? term.field
  return field === term.field ? term : { ...term, field }
}

/** A list over all namespaces that selects one is a list in that namespace. */
function namespaceOf({ resource }: Served, fields: readonly FieldRequirement[]): string | undefined {
  if (!resource.isNamespaced) return undefined
  const demanded = fields.find(({ field, operator }) => field === 'metadata.namespace' && operator === 'Equals')
  return demanded === undefined || demanded.value === '' ? undefined : demanded.value
}
