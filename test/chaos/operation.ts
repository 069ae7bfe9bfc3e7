/** A client's request on one object. Tokens tell writes apart: no two are equal. */
export type Request =
  | { readonly kind: 'create'; readonly token: string }
  | { readonly kind: 'update'; readonly token: string; readonly expected: number }
  /** A patch without a revision. */
  | { readonly kind: 'patch'; readonly token: string }
  /** Expected 0: any present object. */
  | { readonly kind: 'delete'; readonly expected: number }
  | { readonly kind: 'read' }

/** Its answer. */
export type Outcome =
  /** A write that happened; a delete tells no revision. */
  | { readonly kind: 'done'; readonly revision: number }
  | { readonly kind: 'found'; readonly revision: number; readonly token: string }
  | { readonly kind: 'absent' }
  /** The object is there and not as was expected. */
  | { readonly kind: 'conflict' }
  /** It has not happened. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It may have happened, or happen yet. */
  | { readonly kind: 'unknown'; readonly why: string }

/** One request of one object, and when. Times are of one monotonic clock. */
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
