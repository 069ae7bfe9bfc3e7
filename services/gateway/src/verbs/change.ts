import type { DecodedJson } from '@orch/core/json'
import type { JsonPatch } from '@orch/core/patch'

/** A parsed patch. `problems` are unknown and duplicate fields of its operations. */
export type Change =
  | { readonly kind: 'json'; readonly patch: JsonPatch; readonly problems: readonly string[]; readonly body: PatchBody }
  | { readonly kind: 'merge' | 'strategic'; readonly body: PatchBody }

/** The body of a patch. `source` is its text, present if it is small and has duplicate members. */
export type PatchBody = Extract<DecodedJson, { kind: 'json' }> & { readonly source?: () => string }
