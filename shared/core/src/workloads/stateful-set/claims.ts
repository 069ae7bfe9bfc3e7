import type { ObjectMeta, OwnerReference } from '../../meta/object-meta.ts'
import type { BuiltIn } from '../../schema/built-in.ts'
import type { StatefulSet } from './names.ts'

/** A claim as controllers see it. */
export type VolumeClaim = BuiltIn<'core/v1.PersistentVolumeClaim'>

/** A StatefulSet and one of its Pods, which may own the Pod's claims. */
export interface ClaimOwners {
  readonly set: Pick<ObjectMeta, 'name' | 'uid'>
  /** A Pod that does not exist yet has no uid. */
  readonly pod: Pick<ObjectMeta, 'name' | 'uid'>
  readonly policy: { readonly whenDeleted?: string | undefined; readonly whenScaled?: string | undefined }
  /** True if the Pod is beyond the desired replicas. */
  readonly isCondemned: boolean
  /** True if an owner is set as controller of a claim, from 1.33 on. */
  readonly isController: boolean
}

/** The claims of a Pod by template name, each with the labels of its template and of the set (WL-STS-05, WL-STS-06). */
export function claimsFor({ metadata, spec }: StatefulSet, ordinal: number): ReadonlyMap<string, VolumeClaim> {
  return new Map(
    (spec.volumeClaimTemplates ?? []).map((template) => {
      const { name = '', labels, annotations, finalizers } = template.metadata ?? {}
      const claim: VolumeClaim = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: {
          name: `${name}-${metadata.name}-${ordinal}`,
          namespace: metadata.namespace,
          labels: { ...labels, ...spec.selector?.matchLabels },
          annotations,
          finalizers,
        },
        spec: template.spec,
        status: {},
      }
      return [name, claim]
    }),
  )
}

const setKind = { apiVersion: 'apps/v1', kind: 'StatefulSet' }
const podKind = { apiVersion: 'v1', kind: 'Pod' }

type Owner = Pick<OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid'>

function ownersOf({ set, pod }: ClaimOwners): { readonly ofSet: Owner; readonly ofPod: Owner } {
  return {
    ofSet: { ...setKind, name: set.name ?? '', uid: set.uid ?? '' },
    ofPod: { ...podKind, name: pod.name ?? '', uid: pod.uid ?? '' },
  }
}

function names(reference: OwnerReference, { apiVersion, kind, name }: Owner): boolean {
  return reference.apiVersion === apiVersion && reference.kind === kind && reference.name === name
}

/** True if a claim belongs to an earlier object with the owner's name, so that it will be deleted. */
function isStale(references: readonly OwnerReference[], owner: Owner): boolean {
  const found = references.find((reference) => names(reference, owner))
  return found !== undefined && found.uid !== owner.uid
}

/** True if the claim belongs to an earlier Pod of the same name, so that a new Pod must not use it. */
export function isOfEarlierPod({ metadata }: VolumeClaim, owners: ClaimOwners): boolean {
  return owners.policy.whenScaled === 'Delete' && isStale(metadata.ownerReferences ?? [], ownersOf(owners).ofPod)
}

/** True if the claim has another controller than the set or its Pod, so that the policy does not apply (WL-STS-45). */
export function hasOtherController({ metadata }: VolumeClaim, owners: ClaimOwners): boolean {
  if (!owners.isController || (owners.policy.whenDeleted !== 'Delete' && owners.policy.whenScaled !== 'Delete')) return false
  const { ofSet, ofPod } = ownersOf(owners)
  return (metadata.ownerReferences ?? []).some((reference) => {
    const own = [ofSet, ofPod].find((owner) => names(reference, owner))
    return own === undefined ? reference.controller === true : own.uid !== reference.uid
  })
}

/**
 * The owner references of a claim by its set's retention policy; undefined if they are already correct (WL-STS-42, WL-STS-43).
 *
 *   whenDeleted Delete     the set owns the claim
 *   whenScaled Delete      the Pod owns it if the Pod is condemned
 *   both                   the Pod owns it if the Pod is condemned, otherwise the set
 */
export function ownersAfter(claim: VolumeClaim, owners: ClaimOwners): readonly OwnerReference[] | undefined {
  const references = claim.metadata.ownerReferences ?? []
  const { ofSet, ofPod } = ownersOf(owners)
  const own = [ofSet, ofPod]
  if (own.some((owner) => isStale(references, owner))) return undefined
  const isOwned = (by: readonly OwnerReference[], owner: Owner) => by.some(({ uid }) => uid === owner.uid)
  const others = references.filter((reference) => !own.some((owner) => names(reference, owner)))
  if (hasOtherController(claim, owners)) return own.some((owner) => isOwned(references, owner)) ? others : undefined
  const wanted = wantedOwner(owners, { ofSet, ofPod })
  const isWeak =
    owners.isController && references.some(({ uid, controller }) => own.some((owner) => owner.uid === uid) && controller !== true)
  if (!isWeak && own.every((owner) => isOwned(references, owner) === (owner === wanted))) return undefined
  if (wanted === undefined || isOwned(others, wanted)) return others
  return [...others, { ...wanted, ...(owners.isController && { controller: true, blockOwnerDeletion: true }) }]
}

function wantedOwner({ policy, isCondemned }: ClaimOwners, { ofSet, ofPod }: { ofSet: Owner; ofPod: Owner }): Owner | undefined {
  if (policy.whenScaled === 'Delete' && isCondemned) return ofPod
  return policy.whenDeleted === 'Delete' ? ofSet : undefined
}
