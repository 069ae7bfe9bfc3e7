/** A client's request about one object. Every write has another token. */
export type Request =
  | { readonly kind: 'create'; readonly token: string }
  | { readonly kind: 'update'; readonly token: string; readonly expected: number }
  /** A patch without a resourceVersion. */
  | { readonly kind: 'patch'; readonly token: string }
  /** Expected 0: any existing object. */
  | { readonly kind: 'delete'; readonly expected: number }
  | { readonly kind: 'read' }

/** The answer of the request. */
export type Outcome =
  /** The write took effect; a delete has no revision. */
  | { readonly kind: 'done'; readonly revision: number }
  | { readonly kind: 'found'; readonly revision: number; readonly token: string }
  | { readonly kind: 'absent' }
  /** The object exists and does not match the expectation. */
  | { readonly kind: 'conflict' }
  /** The write did not take effect. */
  | { readonly kind: 'refused'; readonly why: string }
  /** The write may have taken effect or may still do so. */
  | { readonly kind: 'unknown'; readonly why: string }

/** One request about one object, with its times by one monotonic clock. */
export interface Operation {
  readonly key: string
  readonly request: Request
  readonly outcome: Outcome
  readonly begunMs: number
  readonly endedMs: number
}

/** Operations by key. */
export function byKey(operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>()
  for (const operation of operations) {
    const group = groups.get(operation.key)
    if (group === undefined) groups.set(operation.key, [operation])
    else group.push(operation)
  }
  return groups
}
