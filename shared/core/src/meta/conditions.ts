/** A condition of a status. */
interface TimedCondition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | null | undefined
}

/** Conditions with one of them as given, in its place or as the last one. The time of the present one stays while its status does. */
export function withCondition<C extends TimedCondition>(conditions: readonly C[] | null | undefined, next: C): C[] {
  const present = conditions ?? []
  const before = present.find(({ type }) => type === next.type)
  const condition = before?.status === next.status ? { ...next, lastTransitionTime: before.lastTransitionTime } : next
  return before === undefined ? [...present, condition] : present.map((one) => (one === before ? condition : one))
}
