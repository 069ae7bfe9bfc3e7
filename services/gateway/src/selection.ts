import {
  badRequest,
  everything,
  type FieldRequirement,
  parseFieldSelector,
  parseLabelSelector,
  requiredName,
  type Scope,
  type Selection,
} from '@orch/core'
import type { Query } from './query.ts'
import type { Served } from './served.ts'

/** Which objects a request means: where, and which of them. */
export interface Range {
  readonly scope: Scope
  readonly selection: Selection
}

export interface Place {
  readonly namespace: string
  readonly name: string
}

/** The objects that a list, watch or deletecollection is about. The terms come from this request, never from a token. */
export function rangeOf(served: Served, place: Place, query: Query): Range {
  const selection = query.isEmpty ? everything : readSelection(served, query)
  const name = place.name === '' ? undefined : place.name
  const namespace = place.namespace === '' || !served.resource.isNamespaced ? namespaceOf(served, selection.fields) : place.namespace
  const scope = {
    resource: served.resource.stored.prefix,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  }
  return { scope, selection }
}

/** The name that a request is about, for authorization: in its path, or demanded by its field selector. */
export function nameDemanded(query: Query): string | undefined {
  const reading = parseFieldSelector(query.get('fieldSelector') ?? '')
  return reading.kind === 'selector' ? requiredName(reading.requirements) : undefined
}

function readSelection(served: Served, query: Query): Selection {
  const labelText = query.get('labelSelector') ?? ''
  const fieldText = query.get('fieldSelector') ?? ''
  if (labelText === '' && fieldText === '') return everything
  const labels = parseLabelSelector(labelText)
  if (labels.kind === 'malformed') throw badRequest(labels.message)
  const fields = parseFieldSelector(fieldText)
  if (fields.kind === 'malformed') throw badRequest(fields.message)
  return { labels: labels.requirements, fields: fields.requirements.map((term) => toStoredField(served, term)) }
}

/** Fields are selected as the stored object calls them. */
function toStoredField({ resource }: Served, term: FieldRequirement): FieldRequirement {
  const field = Object.hasOwn(resource.fieldLabels, term.field) ? resource.fieldLabels[term.field] : undefined
  if (field === undefined) throw badRequest(`field label not supported: ${term.field}`)
  return field === term.field ? term : { ...term, field }
}

/** A list over all namespaces that demands one is a list in that one. */
function namespaceOf({ resource }: Served, fields: readonly FieldRequirement[]): string | undefined {
  if (!resource.isNamespaced) return undefined
  const demanded = fields.find(({ field, operator }) => field === 'metadata.namespace' && operator === 'Equals')
  return demanded === undefined || demanded.value === '' ? undefined : demanded.value
}
