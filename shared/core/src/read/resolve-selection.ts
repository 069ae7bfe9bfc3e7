import { badRequest, type StatusError } from '../meta/status.ts'
import { parseFieldSelector, parseLabelSelector, parseShardSelector, unsupportedField } from '../selectors/index.ts'
import { everything, type Selection } from '../selectors/selection.ts'

/** The query's selectors as sent, and the resource's selectable fields. */
export interface SelectionQuery {
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /** Undefined if shards cannot be selected. */
  readonly shardSelector?: string | undefined
  readonly supportedFields: Iterable<string>
  /** True if the fields are those of a custom kind. */
  readonly isCustom?: boolean
  /** The kind, for messages that name it. */
  readonly namedKind?: string | undefined
  readonly namedVersion?: string | undefined
  /** The minor version of the release whose messages are used. Default: the oldest. */
  readonly level?: number | undefined
}

/** The selection of a request, or a 400 for it. */
export type ResolvedSelection = { kind: 'selection'; selection: Selection } | { kind: 'refused'; error: StatusError }

/** Parses the selectors of a list, watch or deletecollection. */
export function resolveSelection({
  labelSelector,
  fieldSelector,
  shardSelector,
  supportedFields,
  isCustom = false,
  namedKind,
  namedVersion,
  level,
}: SelectionQuery): ResolvedSelection {
  if (!labelSelector && !fieldSelector && !shardSelector) return { kind: 'selection', selection: everything }
  const labels = parseLabelSelector(labelSelector ?? '', level)
  if (labels.kind === 'malformed') return refused(labels.message)
  const fields = parseFieldSelector(fieldSelector ?? '')
  if (fields.kind === 'malformed') return refused(fields.message)
  const unsupported = unsupportedField(fields.requirements, { fields: supportedFields, isCustom, namedKind, namedVersion })
  if (unsupported !== undefined) return refused(unsupported)
  const selection: Selection = { labels: labels.requirements, fields: fields.requirements }
  if (!shardSelector) return { kind: 'selection', selection }
  const shards = parseShardSelector(shardSelector)
  return shards.kind === 'malformed' ? refused(shards.message) : { kind: 'selection', selection: { ...selection, shards: shards.ranges } }
}

function refused(message: string): ResolvedSelection {
  return { kind: 'refused', error: badRequest(message) }
}
