import type { OwnerReference } from '../../meta/object-meta.ts'
import { availableFromMs, isReadyPod, type Pod } from '../pods.ts'
import { type ClaimOwners, claimsFor, hasOtherController, isOfEarlierPod, ownersAfter, type VolumeClaim } from './claims.ts'
import { type Ordinals, ordinalOf, ordinalsOf, revisionLabel, type StatefulSet } from './names.ts'
import { corrected, type IdentityOptions, memberOf, type Versioned } from './pod.ts'
import { recreatedPods, statusOf } from './status.ts'

/** Maximum number of steps of one kind per pass. */
const burstMax = 500
/** Below this level, an update waits for Pods that are not ready, and not for `minReadySeconds`. */
const availableSince = 34

/** A StatefulSet and its related objects. */
export interface StatefulSetObserved extends IdentityOptions {
  readonly set: StatefulSet
  /** Pods that the set controls, with names of the set. */
  readonly pods: readonly Pod[]
  /** Finds a claim by name in the set's namespace. */
  readonly claimNamed: (name: string) => VolumeClaim | undefined
  /** The revision of Pods that are not updated yet. */
  readonly current: Versioned
  readonly update: Versioned
  readonly collisionCount: number
  /** The minor version of the emulated release, such as 37. */
  readonly level: number
  /** True if the retention policy of claims is supported. */
  readonly hasRetention: boolean
  /** True if `maxUnavailable` is supported. */
  readonly hasMaxUnavailable: boolean
}

/** The work on one Pod's claims. */
interface ClaimWork {
  /** Claims to create. */
  readonly missing: readonly VolumeClaim[]
  /** Names of terminating claims, whose end the Pod waits for. */
  readonly ending: readonly string[]
  /** Claims whose owner references change. */
  readonly owned: readonly { readonly claim: VolumeClaim; readonly ownerReferences: readonly OwnerReference[] }[]
  /** Names of claims with another controller. */
  readonly foreign: readonly string[]
}

/** One step for one Pod; the work on its claims comes first. */
export interface StatefulSetStep {
  /** `claims` for only the work on claims. */
  readonly kind: 'create' | 'update' | 'delete' | 'claims'
  readonly pod: Pod
  readonly claims: ClaimWork
  /** A failed Pod of the same name to delete first (below 1.29). */
  readonly replaced?: Pod
  /** True for the deletion of a Pod that the update replaces. */
  readonly isOutdated?: true
  /** The position among the desired Pods: those without a step count in growing batches. */
  readonly place?: number
}

export type StatefulSetPlan = ReturnType<typeof decideStatefulSet>

/**
 * The next steps of a StatefulSet. With OrderedReady, a pass creates or deletes at most one Pod: first the lowest missing or finished one; then,
 * when all desired Pods are available, the highest condemned one; then the update continues. With Parallel, no Pod waits for another
 * (WL-STS-14 to WL-STS-18).
 *
 *   replicas 3, Pods 0 (available), 1 (pending)       wait
 *   replicas 3, Pods 0, 1 (available)                 create 2
 *   replicas 1, Pods 0, 1, 2 (available)              delete 2
 *   replicas 2, Pods 0, 1 (of the old revision)       delete 1
 */
export function decideStatefulSet(observed: StatefulSetObserved, nowMs: number) {
  const { set, pods } = observed
  const { minReadySeconds = 0, podManagementPolicy } = set.spec
  const isParallel = podManagementPolicy === 'Parallel'
  const { groups, isCut } = new Decision(observed, nowMs).groups()
  const times = pods
    .flatMap((pod) => (minReadySeconds > 0 ? (availableFromMs(pod, minReadySeconds) ?? []) : []))
    .filter((fromMs) => fromMs > nowMs)
  return {
    /** Groups of steps; after a failed step, later groups are skipped. */
    groups,
    /** True if the steps of a group run together, in growing batches. */
    isParallel,
    /** The status after this number of outdated Pods has been deleted. */
    statusAfter: (outdatedCount: number) => statusOf({ ...observed, outdatedCount }, nowMs),
    /** Time until the next Pod becomes available; 0 if there were more than 500 steps; undefined if none is pending. */
    waitMs: isCut ? 0 : times.length === 0 ? undefined : Math.min(...times) - nowMs,
  }
}

const noClaims: ClaimWork = { missing: [], ending: [], owned: [], foreign: [] }

class Decision {
  readonly #observed: StatefulSetObserved
  readonly #nowMs: number
  readonly #isOrdered: boolean
  readonly #ordinals: Ordinals
  readonly #byOrdinal: ReadonlyMap<number, Pod>
  /** From the highest ordinal down. */
  readonly #condemned: readonly { readonly ordinal: number; readonly pod: Pod }[]

  constructor(observed: StatefulSetObserved, nowMs: number) {
    const { set, pods } = observed
    const ordinals = ordinalsOf(set)
    const { start, end } = ordinals
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set.metadata.name ?? '', pod.metadata.name) ?? -1, pod]))
    this.#ordinals = ordinals
    this.#byOrdinal = byOrdinal
    this.#observed = observed
    this.#nowMs = nowMs
    this.#isOrdered = set.spec.podManagementPolicy !== 'Parallel'
    this.#condemned = [...byOrdinal]
      .filter(([ordinal]) => ordinal >= 0 && (ordinal < start || ordinal >= end))
      .sort(([left], [right]) => right - left)
      .map(([ordinal, pod]) => ({ ordinal, pod }))
  }

  /** The steps of all phases, at most 500 of the last one. */
  groups(): { readonly groups: StatefulSetStep[][]; readonly isCut: boolean } {
    const groups: StatefulSetStep[][] = []
    if (this.#observed.set.metadata.deletionTimestamp != null) return { groups, isCut: false }
    for (const phase of [() => this.#recreate(), () => this.#keep(), () => this.#disown(), () => this.#remove(), () => this.#update()]) {
      const { steps, isLast } = phase()
      if (steps.length > 0) groups.push(steps.slice(0, burstMax))
      if (steps.length > burstMax) return { groups, isCut: true }
      if (isLast) break
    }
    return { groups, isCut: false }
  }

  /** With Recreate, all outdated Pods end before a new one is created. */
  #recreate(): Phase {
    const outdated = recreatedPods(this.#observed)
    const running = outdated.filter(({ metadata }) => metadata.deletionTimestamp == null)
    return { steps: running.map((pod) => ({ kind: 'delete', pod, claims: noClaims })), isLast: outdated.length > 0 }
  }

  /** The desired Pods must exist; with OrderedReady each waits for those before it. */
  #keep(): Phase {
    const steps: StatefulSetStep[] = []
    const { start, end } = this.#ordinals
    // Replicas may be in the millions.
    for (let ordinal = start; ordinal < end && steps.length <= burstMax; ordinal++) {
      const { step, isBlocked } = this.#keepPlace(ordinal, this.#byOrdinal.get(ordinal))
      if (step !== undefined) steps.push({ ...step, place: ordinal - start })
      if (isBlocked && this.#isOrdered) return { steps, isLast: true }
    }
    return { steps, isLast: false }
  }

  #keepPlace(ordinal: number, pod: Pod | undefined): { readonly step?: StatefulSetStep | undefined; readonly isBlocked: boolean } {
    const { set, level } = this.#observed
    if (pod === undefined) return { step: this.#creation(ordinal), isBlocked: true }
    const isDeleted = pod.metadata.deletionTimestamp != null
    if (this.#hasEnded(pod)) {
      if (isDeleted) return { isBlocked: true }
      return { step: level >= 29 ? { kind: 'delete', pod, claims: noClaims } : this.#creation(ordinal, pod), isBlocked: true }
    }
    const claims = this.#claimWork(pod, ordinal)
    const isBlocked = isDeleted || !this.#isUsable(pod)
    if (level >= 27 && pod.status.phase === 'Pending' && hasWork(claims)) return { step: { kind: 'claims', pod, claims }, isBlocked }
    if (isBlocked && this.#isOrdered) return { isBlocked }
    const changed = corrected(pod, set, ordinal, this.#observed)
    if (changed !== undefined) return { step: { kind: 'update', pod: changed, claims }, isBlocked }
    return { step: claims.owned.length === 0 ? undefined : { kind: 'update', pod, claims: onlyOwners(claims) }, isBlocked }
  }

  /** True if the Pod has finished and must be replaced. */
  #hasEnded({ status: { phase } }: Pod): boolean {
    return phase === 'Failed' || (this.#observed.level >= 29 && phase === 'Succeeded')
  }

  /** Undefined while a claim of an earlier Pod is terminating. */
  #creation(ordinal: number, replaced?: Pod): StatefulSetStep | undefined {
    const { set, current, update } = this.#observed
    const pod = memberOf(set, ordinal, this.#isCurrent(ordinal) ? current : update, this.#observed)
    const owners = this.#ownersOf(pod, ordinal)
    if (this.#claimsOf(ordinal).some(({ cached }) => cached !== undefined && isOfEarlierPod(cached, owners))) return undefined
    return { kind: 'create', pod, claims: this.#claimWork(pod, ordinal), ...(replaced && { replaced }) }
  }

  /** True if a new Pod with this ordinal gets the current revision instead of the update revision (WL-STS-28). */
  #isCurrent(ordinal: number): boolean {
    const { spec, status } = this.#observed.set
    const { type, rollingUpdate } = spec.updateStrategy ?? {}
    const { start } = this.#ordinals
    if (type !== 'RollingUpdate') return false
    return ordinal < start + (rollingUpdate == null ? (status.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0))
  }

  #isUsable(pod: Pod): boolean {
    return pod.status.phase === 'Running' && this.#isAvailable(pod)
  }

  #isAvailable(pod: Pod): boolean {
    return (availableFromMs(pod, this.#observed.set.spec.minReadySeconds ?? 0) ?? Number.POSITIVE_INFINITY) <= this.#nowMs
  }

  #isUnavailable(pod: Pod | undefined): boolean {
    if (pod === undefined || pod.metadata.deletionTimestamp != null) return true
    return this.#observed.level < availableSince ? !isReadyPod(pod) : !this.#isAvailable(pod)
  }

  #ownersOf({ metadata }: Pod, ordinal: number): ClaimOwners {
    const { set, level, hasRetention } = this.#observed
    const { start, end } = this.#ordinals
    return {
      set: set.metadata,
      pod: metadata,
      policy: (hasRetention ? set.spec.persistentVolumeClaimRetentionPolicy : undefined) ?? {},
      isCondemned: ordinal < start || ordinal >= end,
      isController: level >= 33,
    }
  }

  #claimsOf(ordinal: number): readonly { readonly wanted: VolumeClaim; readonly cached: VolumeClaim | undefined }[] {
    const { set, claimNamed } = this.#observed
    return [...claimsFor(set, ordinal).values()].map((wanted) => ({ wanted, cached: claimNamed(wanted.metadata.name ?? '') }))
  }

  #claimWork(pod: Pod, ordinal: number): ClaimWork {
    const { hasRetention } = this.#observed
    const owners = this.#ownersOf(pod, ordinal)
    const claims = this.#claimsOf(ordinal)
    const cached = claims.flatMap((one) => one.cached ?? [])
    const namesOf = (list: readonly VolumeClaim[]) => list.map(({ metadata }) => metadata.name ?? '')
    return {
      missing: claims.flatMap(({ wanted, cached: found }) =>
        found === undefined ? [hasRetention ? ownedBy(wanted, owners) : wanted] : [],
      ),
      ending: namesOf(cached.filter(({ metadata }) => metadata.deletionTimestamp != null)),
      owned: !hasRetention
        ? []
        : cached.flatMap((claim) => {
            const ownerReferences = ownersAfter(claim, owners)
            return ownerReferences === undefined ? [] : [{ claim, ownerReferences }]
          }),
      foreign: namesOf(cached.filter((claim) => hasOtherController(claim, owners))),
    }
  }

  /** Sets the owners of claims of condemned Pods before the Pods are deleted. */
  #disown(): Phase {
    const steps = this.#condemned.flatMap(({ ordinal, pod }): StatefulSetStep[] => {
      const claims = onlyOwners(this.#claimWork(pod, ordinal))
      return claims.owned.length === 0 ? [] : [{ kind: 'claims', pod, claims }]
    })
    return { steps, isLast: false }
  }

  /** Deletes condemned Pods: with OrderedReady one at a time, and an unhealthy one only if it is the first unhealthy Pod. */
  #remove(): Phase {
    const steps: StatefulSetStep[] = []
    const firstUnavailable = this.#condemned.findLast(({ pod }) => this.#isUnavailable(pod))?.pod
    for (const { pod } of this.#condemned) {
      const isDeleted = pod.metadata.deletionTimestamp != null
      const isHeld = isDeleted || !(this.#isUsable(pod) || pod === firstUnavailable)
      if (!isDeleted && !(this.#isOrdered && isHeld)) steps.push({ kind: 'delete', pod, claims: noClaims })
      if (this.#isOrdered) return { steps, isLast: true }
    }
    return { steps, isLast: false }
  }

  #update(): Phase {
    const { updateStrategy } = this.#observed.set.spec
    if (updateStrategy?.type === 'OnDelete' || updateStrategy?.type === 'Recreate') return { steps: [], isLast: true }
    const pods = this.#observed.hasMaxUnavailable ? this.#outdatedByBudget() : this.#outdatedOneByOne()
    return { steps: pods.map((pod) => ({ kind: 'delete', pod, claims: noClaims, isOutdated: true })), isLast: true }
  }

  /** The desired Pods; undefined for a Pod that this pass creates. */
  #members(): (Pod | undefined)[] {
    const { start, end } = this.#ordinals
    return Array.from({ length: end - start }, (_, index) => this.#byOrdinal.get(start + index))
  }

  /** The desired Pods from the partition on, highest first. */
  #updatable(): (Pod | undefined)[] {
    return this.#members()
      .slice(this.#observed.set.spec.updateStrategy?.rollingUpdate?.partition ?? 0)
      .reverse()
  }

  #isOutdated(pod: Pod | undefined): pod is Pod {
    if (pod === undefined || pod.metadata.deletionTimestamp != null || this.#hasEnded(pod)) return false
    return pod.metadata.labels?.[revisionLabel] !== this.#observed.update.name
  }

  /** The highest outdated Pod, if all Pods above it are available (WL-STS-29, WL-STS-30). */
  #outdatedOneByOne(): Pod[] {
    for (const pod of this.#updatable()) {
      if (this.#isOutdated(pod)) return [pod]
      if (this.#isUnavailable(pod)) return []
    }
    return []
  }

  /** The outdated Pods that `maxUnavailable` allows to replace (WL-STS-34 to WL-STS-36). */
  #outdatedByBudget(): Pod[] {
    const budget = this.#maxUnavailable() - this.#members().filter((pod) => this.#isUnavailable(pod)).length
    const outdated = this.#updatable().filter((pod) => this.#isOutdated(pod))
    if (this.#isOrdered) return outdated.slice(0, Math.max(0, budget))
    const available = outdated.filter((pod) => this.#isAvailable(pod))
    return [...outdated.filter((pod) => !this.#isAvailable(pod)), ...available.slice(0, Math.max(0, budget))]
  }

  #maxUnavailable(): number {
    const { replicas, updateStrategy } = this.#observed.set.spec
    const value = updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
    const count = typeof value === 'number' ? value : Math.floor((Number.parseInt(value, 10) * (replicas ?? 1)) / 100)
    return Math.max(1, count)
  }
}

interface Phase {
  readonly steps: StatefulSetStep[]
  readonly isLast: boolean
}

/** The claim with the owner that the retention policy gives it. */
function ownedBy(claim: VolumeClaim, owners: ClaimOwners): VolumeClaim {
  const ownerReferences = ownersAfter(claim, owners)
  return ownerReferences === undefined ? claim : { ...claim, metadata: { ...claim.metadata, ownerReferences: [...ownerReferences] } }
}

function hasWork({ missing, ending, owned }: ClaimWork): boolean {
  return missing.length > 0 || ending.length > 0 || owned.length > 0
}

function onlyOwners(claims: ClaimWork): ClaimWork {
  return { ...claims, missing: [], ending: [] }
}
