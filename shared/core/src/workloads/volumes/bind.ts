import { jsonEqual } from '../../json/equal.ts'
import { compareQuantities, parseQuantity } from '../../meta/quantity.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { hasAnnotation, isFor, isLargerThanStatus, requestOf, sizeOf, type Volume, type VolumeNames } from './objects.ts'

/** The volume with a reference to the claim; the same object if unchanged. An annotation marks that the controller chose the volume. */
export function volumeFor(volume: Volume, claim: VolumeClaim, { boundByController }: VolumeNames): Volume {
  const { name = '', namespace, uid, resourceVersion } = claim.metadata
  const { claimRef } = volume.spec
  const isBound = claimRef?.name === name && claimRef.namespace === namespace && claimRef.uid === uid
  const isChosen = !isFor(volume, claim) && !hasAnnotation(volume, boundByController)
  if (isBound && !isChosen) return volume
  const reference = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', name, namespace, uid, resourceVersion }
  const marked = isChosen ? withAnnotations(volume, { [boundByController]: 'yes' }) : volume
  return isBound ? marked : { ...marked, spec: { ...marked.spec, claimRef: reference } }
}

/** The volume without its claim reference; a reference written by a user only loses its uid. */
export function unboundVolume(volume: Volume, { boundByController }: VolumeNames): Volume {
  const { claimRef, ...spec } = volume.spec
  if (!hasAnnotation(volume, boundByController))
    return { ...volume, spec: { ...spec, ...(claimRef != null && { claimRef: { ...claimRef, uid: '' } }) } }
  const { [boundByController]: _, ...annotations } = volume.metadata.annotations ?? {}
  return { ...volume, metadata: { ...volume.metadata, annotations }, spec }
}

/** The volume in a phase; the same object if unchanged. */
export function volumeIn(phase: string, volume: Volume, message?: string): Volume {
  if (volume.status.phase === phase) return volume
  const { message: _, ...status } = volume.status
  return { ...volume, status: { ...status, phase, ...(message !== undefined && { message }) } }
}

/** The claim with its volume's name; the same object if unchanged. Annotations mark who chose the volume, and that the claim was bound. */
export function claimFor(claim: VolumeClaim, { metadata: { name } }: Volume, names: VolumeNames): VolumeClaim {
  const isChosen = claim.spec.volumeName !== name
  if (!isChosen && hasAnnotation(claim, names.bindCompleted)) return claim
  const marks = { ...(isChosen && { [names.boundByController]: 'yes' }), [names.bindCompleted]: 'yes' }
  return { ...withAnnotations(claim, marks), spec: { ...claim.spec, volumeName: name } }
}

interface Bound {
  readonly names: VolumeNames
  readonly hasAttributeClasses: boolean
}

/** The claim in phase Bound with the facts of its volume; the same object if unchanged. Its size becomes the volume's when it is bound. */
export function boundClaim(claim: VolumeClaim, volume: Volume, { names, hasAttributeClasses }: Bound): VolumeClaim {
  const { status } = claim
  const becomesBound = status.phase !== 'Bound'
  const { accessModes, capacity, volumeAttributesClassName } = volume.spec
  const before = volume.metadata.annotations?.[names.sizeBeforeResize]
  const storage = before !== undefined && parseQuantity(before) !== undefined ? before : undefined
  const next = {
    ...status,
    phase: 'Bound',
    ...(accessModes != null && { accessModes }),
    ...(becomesBound && { capacity: storage === undefined ? capacity : { ...status.capacity, storage } }),
    ...(status.phase === 'Pending' &&
      hasAttributeClasses &&
      volumeAttributesClassName != null && { currentVolumeAttributesClassName: volumeAttributesClassName }),
  }
  return jsonEqual(next, status) ? claim : { ...claim, status: next }
}

/** The claim in a phase without a volume; the same object if unchanged. */
export function claimIn(phase: string, claim: VolumeClaim): VolumeClaim {
  const { accessModes, capacity, currentVolumeAttributesClassName, ...status } = claim.status
  const isSame = status.phase === phase && accessModes == null && capacity == null && currentVolumeAttributesClassName == null
  return isSame ? claim : { ...claim, status: { ...status, phase } }
}

/** The object with additional annotations. */
export function withAnnotations<T extends VolumeClaim | Volume>(object: T, annotations: Readonly<Record<string, string>>): T {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } } }
}

/** A bound claim and its volume, expanded to the requested size; the volume is unchanged if it is large enough. Undefined if the claim has its requested size. */
export function growth(claim: VolumeClaim, volume: Volume): { readonly volume: Volume; readonly claim: VolumeClaim } | undefined {
  if (claim.status.phase !== 'Bound' || !isLargerThanStatus(claim)) return undefined
  const storage = claim.spec.resources?.requests?.['storage'] ?? ''
  const isLargeEnough = compareQuantities(sizeOf(volume), requestOf(claim)) >= 0
  return {
    volume: isLargeEnough ? volume : { ...volume, spec: { ...volume.spec, capacity: { ...volume.spec.capacity, storage } } },
    claim: { ...claim, status: { ...claim.status, capacity: { ...claim.status.capacity, storage } } },
  }
}
