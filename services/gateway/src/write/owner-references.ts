import { printJson } from '@orch/core/json'
import type { ApiObject, ObjectMeta } from '@orch/core/meta'
import type { Draft, PlannedWrite, WriteStep } from './draft.ts'
import type { Live } from './live.ts'

type Owners = NonNullable<ObjectMeta['ownerReferences']>

/**
 * Merges owners that are listed twice, before it is found out who owns which fields: a list with two entries of one key has no owners.
 * A patch is said to have met them where kube-apiserver first looks at one, after mutating admission.
 */
export const mergeOwners: WriteStep<unknown> = (draft) => {
  mergeOwnersOf(draft, draft.write.request.method === 'PATCH' ? afterAdmission : '')
}

/** As `mergeOwners`, of what mutating admission has left. */
export const mergeAdmittedOwners: WriteStep<unknown> = (draft) => {
  // The early verdict is about the object before it.
  if (mergeOwnersOf(draft, afterAdmission)) draft.mutation = undefined
}

const afterAdmission = ' after mutating admission happens'

function mergeOwnersOf(draft: Draft<Live | undefined, PlannedWrite>, when: string): boolean {
  const { ownerReferences } = draft.object.metadata
  if (ownerReferences === undefined || ownerReferences.length < 2) return false
  const { merged, doubled } = mergeDoubled(ownerReferences)
  if (doubled.length === 0) return false
  draft.write.request.warn(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${doubled.join(', ')}`,
  )
  draft.object = withOwners(draft.object, merged)
  if (draft.given.metadata.ownerReferences === ownerReferences) draft.given = withOwners(draft.given, merged)
  return true
}

/** The first of equal entries, and the uid of each further one. Entries that differ in anything stay. Their members are in one order. */
function mergeDoubled(owners: Owners): { readonly merged: Owners; readonly doubled: readonly string[] } {
  const merged: Owners = []
  const doubled: string[] = []
  const seen = new Set<string>()
  for (const owner of owners) {
    const text = printJson(owner)
    if (seen.has(text)) doubled.push(owner.uid)
    else merged.push(owner)
    seen.add(text)
  }
  return { merged, doubled }
}

function withOwners(object: ApiObject, ownerReferences: Owners): ApiObject {
  return { ...object, metadata: { ...object.metadata, ownerReferences } }
}
