import { boundsOf, type RollWish } from './bounds.ts'

/** The numbers of a ReplicaSet. */
export interface SizedSet {
  readonly name: string
  /** Desired Pods. */
  readonly replicas: number
  /** Available Pods. */
  readonly available: number
  /** Milliseconds since 1970. */
  readonly createdMs: number
  /** Scaling annotations: the Deployment's replicas, without and with the surge. */
  readonly desired?: number | undefined
  readonly max?: number | undefined
}

/** A new size of a ReplicaSet. */
export interface Resize {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Sorts by creation time, oldest first, then by name. */
export function byCreation(left: SizedSet, right: SizedSet): number {
  return left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1)
}

export function totalReplicas(sets: readonly SizedSet[]): number {
  return sets.reduce((sum, { replicas }) => sum + replicas, 0)
}

/** The next size of the new ReplicaSet if all ReplicaSets together have `total` replicas; with Recreate, its full size (WL-DEP-20). */
export function nextNewSize(wish: RollWish, { replicas }: Pick<SizedSet, 'replicas'>, total: number): number {
  if (wish.rollingUpdate === undefined) return wish.replicas
  const room = boundsOf(wish).maxTotal - total
  return room <= 0 ? replicas : replicas + Math.min(room, wish.replicas - replicas)
}

/**
 * One step of a rolling update: resizes the new ReplicaSet, or else scales down old ones, unavailable Pods first (WL-DEP-21 to
 * WL-DEP-23). A ReplicaSet may be resized twice. Empty if no change is allowed yet.
 */
export function rollingStep(wish: RollWish, newSet: SizedSet, oldSets: readonly SizedSet[]): Resize[] {
  const { minAvailable } = boundsOf(wish)
  const total = totalReplicas([newSet, ...oldSets])
  const to = Math.min(wish.replicas, nextNewSize(wish, newSet, total))
  if (to !== newSet.replicas) return [{ name: newSet.name, from: newSet.replicas, to }]
  const active = oldSets.filter(({ replicas }) => replicas > 0).sort(byCreation)
  const budget = total - minAvailable - (newSet.replicas - newSet.available)
  if (active.length === 0 || budget <= 0) return []
  const unhealthy = takeAway(active, budget, ({ replicas, available }) => replicas - available)
  const left = active.map((set) => ({ ...set, replicas: unhealthy.find(({ name }) => name === set.name)?.to ?? set.replicas }))
  const availableOfAll = [newSet, ...oldSets].reduce((sum, { available }) => sum + available, 0)
  return [...unhealthy, ...takeAway(left, availableOfAll - minAvailable, ({ replicas }) => replicas)]
}

/** Removes replicas from one ReplicaSet after another, at most `mostOf` from each. */
function takeAway(sets: readonly SizedSet[], budget: number, mostOf: (set: SizedSet) => number): Resize[] {
  const resizes: Resize[] = []
  let left = budget
  for (const set of sets) {
    const count = Math.min(left, mostOf(set))
    if (left <= 0 || set.replicas === 0 || count <= 0) continue
    resizes.push({ name: set.name, from: set.replicas, to: set.replicas - count })
    left -= count
  }
  return resizes
}

/**
 * Sizes after the Deployment's replicas have changed: a single active ReplicaSet, or the newest if none is active, gets all. If the new one has
 * all its Pods available, old ones are scaled to 0; otherwise the difference is distributed proportionally (WL-DEP-27 to WL-DEP-31). An unchanged size is
 * included if the annotations of its ReplicaSet must change. A ReplicaSet without the annotation of its maximum size uses `statusReplicas`,
 * the number of Pods in the Deployment's status.
 */
export function scaledSizes(
  wish: RollWish,
  { newSet, oldSets, statusReplicas }: { newSet: SizedSet | undefined; oldSets: readonly SizedSet[]; statusReplicas: number },
): Resize[] {
  const all = [...oldSets, ...(newSet === undefined ? [] : [newSet])]
  const active = all.filter(({ replicas }) => replicas > 0)
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? oldSets.toSorted(byCreation).at(-1))
  if (active.length <= 1) {
    return only === undefined || only.replicas === wish.replicas ? [] : [{ name: only.name, from: only.replicas, to: wish.replicas }]
  }
  if (newSet !== undefined && isSaturated(newSet, wish.replicas)) {
    return active.filter((set) => set !== newSet).map(({ name, replicas }) => ({ name, from: replicas, to: 0 }))
  }
  return wish.rollingUpdate === undefined ? [] : shares(wish, active, statusReplicas)
}

function isSaturated({ replicas, desired, available }: SizedSet, wanted: number): boolean {
  return replicas === wanted && desired === wanted && available === wanted
}

function shares(wish: RollWish, active: readonly SizedSet[], statusReplicas: number): Resize[] {
  const { maxTotal } = boundsOf(wish)
  const toAdd = (wish.replicas > 0 ? maxTotal : 0) - totalReplicas(active)
  const byAge = (left: SizedSet, right: SizedSet) => (toAdd > 0 ? byCreation(right, left) : byCreation(left, right))
  const ordered = toAdd === 0 ? active : active.toSorted((left, right) => right.replicas - left.replicas || byAge(left, right))
  let added = 0
  const sizes = ordered.map((set) => {
    const share = shareOf(set, { wish, maxTotal, statusReplicas })
    const left = toAdd - added
    const count = left === 0 ? 0 : toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
    added += count
    return { name: set.name, from: set.replicas, to: set.replicas + count }
  })
  const [first, ...rest] = sizes
  return first === undefined ? [] : [{ ...first, to: Math.max(0, first.to + toAdd - added) }, ...rest]
}

interface ShareContext {
  readonly wish: RollWish
  readonly maxTotal: number
  readonly statusReplicas: number
}

function shareOf({ replicas, max = 0 }: SizedSet, { wish, maxTotal, statusReplicas }: ShareContext): number {
  if (wish.replicas === 0) return -replicas
  const before = max === 0 ? statusReplicas : max
  return before === 0 ? 0 : Math.round((replicas * maxTotal) / before) - replicas
}
