import type { LabelRequirement } from '../../selectors/selection.ts'
import { type Claim, claim, isControlled } from '../claim.ts'
import { type AnnotationNames, readCount, revisionOf } from './revisions.ts'
import { byCreation, type SizedSet } from './sizes.ts'
import type { Deployment, ReplicaSet } from './status.ts'

/** A Deployment's ReplicaSets. */
export interface OwnedSets extends Pick<Claim<ReplicaSet>, 'adopted' | 'released'> {
  /** The oldest ReplicaSet with the Deployment's template. */
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
}

interface Claimer {
  readonly selector: readonly LabelRequirement[]
  /** True if the set has the Deployment's template. */
  hasTemplate(set: ReplicaSet): boolean
}

/** Claims ReplicaSets by their labels. */
export function ownedSets({ metadata }: Deployment, sets: readonly ReplicaSet[], { selector, hasTemplate }: Claimer): OwnedSets {
  const claimable = sets.filter((set) => set.metadata.deletionTimestamp == null || isControlled(set))
  const { owned, adopted, released } = claim(claimable, { owner: metadata, selector })
  const all = [...owned, ...adopted].sort((left, right) => byCreation(sized(left), sized(right)))
  const newSet = all.find(hasTemplate)
  return { adopted, released, newSet, oldSets: all.filter((set) => set !== newSet) }
}

export function sized({ metadata, spec, status }: ReplicaSet, names?: AnnotationNames): SizedSet {
  return {
    name: metadata.name ?? '',
    replicas: spec.replicas ?? 1,
    available: status.availableReplicas ?? 0,
    createdMs: Date.parse(metadata.creationTimestamp ?? ''),
    desired: readCount(metadata.annotations?.[names?.desired ?? '']),
    max: readCount(metadata.annotations?.[names?.max ?? '']),
  }
}

/** Old ReplicaSets without Pods beyond the history limit, lowest revisions first (WL-DEP-13). */
export function beyondHistory(oldSets: readonly ReplicaSet[], limit: number, names: AnnotationNames): ReplicaSet[] {
  const revision = ({ metadata }: ReplicaSet) => revisionOf(metadata.annotations, names)
  return oldSets
    .filter(({ metadata }) => metadata.deletionTimestamp == null)
    .sort((left, right) => revision(left) - revision(right) || byCreation(sized(left), sized(right)))
    .slice(0, Math.max(0, oldSets.filter(({ metadata }) => metadata.deletionTimestamp == null).length - limit))
    .filter(({ metadata, spec, status }) => {
      const isObserved = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0)
      return (status.replicas ?? 0) === 0 && spec.replicas === 0 && isObserved
    })
}
