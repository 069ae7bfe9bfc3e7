/** A condition of a status. */
interface TimedCondition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | null | undefined
}

/** Conditions with one replaced or appended. Its transition time stays if its status does not change. */
export function withCondition<C extends TimedCondition>(conditions: readonly C[] | null | undefined, next: C): C[] {
  const present = conditions ?? []
  const before = present.find(({ type }) => type === next.type)
  const condition = before?.status === next.status ? { ...next, lastTransitionTime: before.lastTransitionTime } : next
  return before === undefined ? [...present, condition] : present.map((one) => (one === before ? condition : one))
}
