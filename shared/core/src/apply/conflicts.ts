import { failed, listedTextMax, type StatusCause, type StatusError } from '../meta/status.ts'
import { describePaths, type FieldSet } from './field-set.ts'
import { type Owner, type Owners, ownerIdentity } from './ownership.ts'
import { compareText } from './path-element.ts'

/** A field that an apply would change and another manager owns. */
export interface ApplyConflict {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** The path in the form of messages: `.spec.replicas`. */
  readonly path: string
}

/** One conflict for each field, grouped by manager. */
export function conflictsOf(owners: Owners, taken: ReadonlyMap<string, FieldSet>): ApplyConflict[] {
  return [...taken]
    .sort(([left], [right]) => compareText(left, right))
    .flatMap(([identity, set]) => {
      const { manager, operation, apiVersion, subresource } = owners.get(identity) as Owner
      return describePaths(set).map((path) => ({ manager, operation, apiVersion, subresource, path }))
    })
}

/** The 409 for an apply with conflicts. It has one cause per field, and the message lists the fields, as many as `listedTextMax` has room for. */
export function conflictStatus(conflicts: readonly ApplyConflict[]): StatusError {
  const causes: StatusCause[] = []
  let length = 0
  for (const conflict of conflicts) {
    if (length > listedTextMax) break
    const message = `conflict with ${describeManager(conflict)}`
    length += message.length + conflict.path.length
    causes.push({ reason: 'FieldManagerConflict', message, field: conflict.path })
  }
  return failed(409, 'Conflict', conflictText(conflicts, causes.length), { details: { causes } })
}

function conflictText(conflicts: readonly ApplyConflict[], listedMax: number): string {
  const [only] = conflicts
  if (conflicts.length === 1 && only !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${describeManager(only)}: ${only.path}`
  }
  const lines: string[] = []
  let last: string | undefined
  for (const conflict of conflicts.slice(0, listedMax)) {
    const identity = ownerIdentity(conflict)
    if (identity !== last) lines.push(`conflicts with ${describeManager(conflict)}:`)
    lines.push(`- ${conflict.path}`)
    last = identity
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function describeManager({ manager, operation, apiVersion, subresource }: ApplyConflict): string {
  const name = JSON.stringify(manager) + (subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
