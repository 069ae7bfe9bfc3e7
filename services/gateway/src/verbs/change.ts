import type { DecodedJson } from '@orch/core/json'
import type { JsonPatch } from '@orch/core/patch'

/** A parsed patch. */
export type Change =
  | { readonly kind: 'json'; readonly patch: JsonPatch; readonly body: PatchBody }
  | { readonly kind: 'merge' | 'strategic'; readonly body: PatchBody }

/** The body of a patch. */
export type PatchBody = Extract<DecodedJson, { kind: 'json' }>
