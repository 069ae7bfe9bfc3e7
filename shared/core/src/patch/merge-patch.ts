import { cannotUnmarshal, isJsonObject, memberOf, setMember } from '../json/index.ts'
import { badRequest, type StatusError } from '../meta/status.ts'

/** The result of merging. A patch that is not an object is refused. */
export type MergeOutcome = { kind: 'patched'; value: Record<string, unknown> } | { kind: 'refused'; error: StatusError }

/** Applies a merge patch of a request. The inputs are not changed. */
export function applyMergePatch(document: unknown, patch: unknown): MergeOutcome {
  if (isJsonObject(patch)) return { kind: 'patched', value: mergeObjects(document, patch) }
  if (patch === null) return { kind: 'refused', error: badRequest('Invalid JSON Patch') }
  return {
    kind: 'refused',
    error: badRequest(`error decoding patch: ${cannotUnmarshal(patch, 'map[string]interface {}')}`),
  }
}

/**
 * RFC 7386: objects merge member by member, null removes, anything else replaces.
 *
 *   {a: 1, b: {c: 2, d: 3}}  with  {a: null, b: {c: 4}, e: [5]}   →   {b: {c: 4, d: 3}, e: [5]}
 *
 * It uses its own stack, since a patch may be deeper than the call stack. Unchanged parts are shared.
 */
function mergeObjects(document: unknown, patch: Record<string, unknown>): Record<string, unknown> {
  const merged = copyOf(document)
  const pending: { into: Record<string, unknown>; patch: Record<string, unknown> }[] = [{ into: merged, patch }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { into } = next
    for (const [key, value] of Object.entries(next.patch)) {
      if (value === null) {
        // Removing an absent member is much slower than looking for it.
        if (key in into) delete into[key]
      } else if (isJsonObject(value)) {
        const child = copyOf(memberOf(into, key))
        setMember(into, key, child)
        pending.push({ into: child, patch: value })
      } else {
        setMember(into, key, value)
      }
    }
  }
  return merged
}

/** A value other than an object is replaced as if it were an empty object. */
function copyOf(value: unknown): Record<string, unknown> {
  return isJsonObject(value) ? { ...value } : {}
}
