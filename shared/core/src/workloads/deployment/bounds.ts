/** The desired replicas and rollout limits of a Deployment. */
export interface RollWish {
  readonly replicas: number
  /** Numbers, or percentages such as `25%`. Undefined to replace all Pods at once (Recreate). */
  readonly rollingUpdate: { readonly maxSurge: number | string; readonly maxUnavailable: number | string } | undefined
}

/** The allowed numbers of Pods during a rollout. */
export interface RollBounds {
  /** Maximum number of extra Pods. */
  readonly surge: number
  /** Maximum number of unavailable Pods. */
  readonly unavailable: number
  /** Maximum total number of Pods. */
  readonly maxTotal: number
  /** Minimum number of available Pods. */
  readonly minAvailable: number
}

/**
 * Surge is rounded up and unavailability down. If both are 0, one Pod may be unavailable.
 *
 *   replicas 3, 25% and 25%    surge 1, unavailable 0
 *   replicas 3, 0 and 25%      surge 0, unavailable 1
 */
export function boundsOf({ replicas, rollingUpdate }: RollWish): RollBounds {
  const { surge, unavailable } = rollingUpdate === undefined ? { surge: 0, unavailable: 0 } : fencepostsOf(rollingUpdate, replicas)
  const used = Math.min(unavailable, replicas)
  return { surge, unavailable: used, maxTotal: replicas + surge, minAvailable: replicas - used }
}

/** The limits before they are capped by the replicas. */
export function fencepostsOf(
  { maxSurge, maxUnavailable }: NonNullable<RollWish['rollingUpdate']>,
  replicas: number,
): Pick<RollBounds, 'surge' | 'unavailable'> {
  const surge = scaled(maxSurge, replicas, Math.ceil)
  const unavailable = scaled(maxUnavailable, replicas, Math.floor)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

function scaled(value: number | string, total: number, round: (number: number) => number): number {
  return typeof value === 'number' ? value : round((Number.parseInt(value, 10) * total) / 100)
}
