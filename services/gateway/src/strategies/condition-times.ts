interface Condition {
  readonly type: string
  readonly status?: string
  readonly lastUpdateTime?: string | null
  readonly lastTransitionTime?: string | null
}

/** The conditions with the times that their writer left out: one whose status stays keeps the time of its last transition. */
export function transitionTimes<C extends Condition>(conditions: readonly C[], before: readonly Condition[], now: string): C[] {
  return conditions.map((condition) => {
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    }
  })
}
