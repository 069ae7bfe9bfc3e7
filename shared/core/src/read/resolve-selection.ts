import { everything, type Selection } from '../contracts/selection.ts'
import { badRequest, type StatusError } from '../meta/status.ts'
import { parseFieldSelector, unsupportedField } from '../selectors/fields.ts'
import { parseLabelSelector } from '../selectors/labels.ts'

/** The query's selectors as they came, and the fields that the resource selects by. */
export interface SelectionQuery {
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  readonly supportedFields: Iterable<string>
}

/** Which objects a request means, or the 400 that answers it. */
export type ResolvedSelection = { kind: 'selection'; selection: Selection } | { kind: 'refused'; error: StatusError }

/** Reads both selectors of a list, watch or deletecollection. */
export function resolveSelection({ labelSelector, fieldSelector, supportedFields }: SelectionQuery): ResolvedSelection {
  if (!labelSelector && !fieldSelector) return { kind: 'selection', selection: everything }
  const labels = parseLabelSelector(labelSelector ?? '')
  if (labels.kind === 'malformed') return refused(labels.message)
  const fields = parseFieldSelector(fieldSelector ?? '')
  if (fields.kind === 'malformed') return refused(fields.message)
  const unsupported = unsupportedField(fields.requirements, supportedFields)
  if (unsupported !== undefined) return refused(unsupported)
  return { kind: 'selection', selection: { labels: labels.requirements, fields: fields.requirements } }
}

function refused(message: string): ResolvedSelection {
  return { kind: 'refused', error: badRequest(message) }
}
