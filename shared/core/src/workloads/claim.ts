import type { ObjectMeta } from '../meta/object-meta.ts'
import { matchesLabels } from '../selectors/labels.ts'
import type { LabelRequirement } from '../selectors/selection.ts'

interface Claimer {
  readonly owner: Pick<ObjectMeta, 'uid' | 'deletionTimestamp'>
  readonly selector: readonly LabelRequirement[]
}

interface Claimable {
  readonly metadata: ObjectMeta
}

export interface Claim<T> {
  readonly owned: readonly T[]
  readonly adopted: readonly T[]
  readonly released: readonly T[]
}

/**
 * The objects that a controller owns, adopts and releases by its selector, among objects that it controls and objects without a controller. An
 * owner that is being deleted does not adopt or release objects.
 */
export function claim<T extends Claimable>(objects: readonly T[], { owner, selector }: Claimer): Claim<T> {
  const [owned, adopted, released]: [T[], T[], T[]] = [[], [], []]
  const isDeleted = owner.deletionTimestamp != null
  for (const object of objects) {
    const isMatching = matchesLabels(selector, object.metadata.labels)
    const isOwn = isControlled(object, owner.uid)
    if (isMatching && isOwn) owned.push(object)
    else if (isOwn && !isDeleted) released.push(object)
    else if (isMatching && !isDeleted && !isControlled(object)) adopted.push(object)
  }
  return { owned, adopted, released }
}

/** True if an object has this controller, or any controller if `uid` is undefined. */
export function isControlled({ metadata }: Claimable, uid?: string): boolean {
  return (
    metadata.ownerReferences?.some((reference) => reference.controller === true && (uid === undefined || reference.uid === uid)) === true
  )
}
