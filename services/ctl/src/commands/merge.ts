import { isJsonObject, jsonEqual } from '@orch/core/json'

/** The JSON merge patch (RFC 7386) that turns `before` into `after`; undefined if they are equal. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(after)) return jsonEqual(before, after) ? undefined : after
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) patch[key] = null
  for (const [key, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, key) ? mergePatch(before[key], value) : value
    if (change !== undefined) patch[key] = change
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}
