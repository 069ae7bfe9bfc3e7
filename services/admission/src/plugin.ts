import type { Attributes, CommitRequest, Interest, StatusError } from '@orch/core'

export type Conditions = CommitRequest['conditions']

/** What one plugin says. */
export type Verdict =
  | {
      readonly kind: 'allowed'
      /** The object as the plugin wants it; absent: unchanged. Never set while validating. */
      readonly object?: unknown
      readonly warnings?: readonly string[]
      readonly auditAnnotations?: Readonly<Record<string, string>>
      /** What must still hold when the object is committed. */
      readonly conditions?: Conditions
    }
  | { readonly kind: 'denied'; readonly error: StatusError }

/** Nothing to say against it. */
export const allowed: Verdict = Object.freeze({ kind: 'allowed' })

/** One rule about what may be written. A plugin sees only requests that one of its interests matches. */
export interface Plugin {
  readonly name: string
  readonly interests: readonly Interest[]
  /** May change the object; it returns a new one and leaves its input alone. */
  mutate?(attributes: Attributes): Promise<Verdict>
  /** May only refuse. */
  validate?(attributes: Attributes): Promise<Verdict>
  close(): void
}
