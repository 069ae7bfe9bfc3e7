import { getOrMake } from '@orch/cel/memo'
import { compareQuantities, type Quantity } from '../../meta/quantity.ts'
import { matchesLabels, toLabelRequirements } from '../../selectors/labels.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { classOf, isFor, requestOf, sizeOf, type Volume, type VolumeNames } from './objects.ts'

export interface MatchOptions {
  readonly names: VolumeNames
  /** True if claims and volumes may have volume attributes classes. */
  readonly hasAttributeClasses: boolean
  /** True if the claim waits for its first consumer, so that only volumes reserved for it count. */
  readonly isDelayed: boolean
  /** Tells if a node can access a volume; set if the search is for a node. */
  readonly isReachable?: (volume: Volume) => boolean
}

/**
 * Finds the volume for a claim: a reserved volume, or else the smallest sufficient volume with the claim's access modes. Volumes with fewer access
 * modes take precedence; the name decides among equals.
 *
 *   request 1Gi of ReadWriteOnce; 2Gi of ReadWriteOnce, 1Gi of ReadWriteOnce and ReadOnlyMany    the one of 2Gi
 */
export function findVolume(claim: VolumeClaim, volumes: Iterable<Volume>, options: MatchOptions): Volume | undefined {
  const byModes = new Map<number, Volume[]>()
  for (const volume of volumes) {
    if (!isCandidate(claim, volume, options) || !hasModes(claim, volume)) continue
    const count = new Set(volume.spec.accessModes).size
    getOrMake(byModes, count, () => []).push(volume)
  }
  for (const [, group] of [...byModes].sort(([left], [right]) => left - right)) {
    const found = smallestVolume(claim, group, options)
    if (found !== undefined) return found
  }
  return undefined
}

/** The volume for a claim, ignoring access modes, except that a search for a node checks them for unreserved volumes. */
export function smallestVolume(claim: VolumeClaim, volumes: readonly Volume[], options: MatchOptions): Volume | undefined {
  const { names, isDelayed, isReachable = () => true } = options
  const candidates = volumes.filter((volume) => isCandidate(claim, volume, options))
  const reserved = candidates.find((volume) => isFor(volume, claim))
  if (reserved !== undefined) return isReachable(reserved) ? reserved : undefined
  if (isDelayed && options.isReachable === undefined) return undefined
  const isSelected = selection(claim)
  const wanted = classOf(claim, names)
  let best: { readonly volume: Volume; readonly size: Quantity } | undefined
  for (const volume of candidates) {
    if (volume.status.phase !== 'Available' || !isSelected(volume) || classOf(volume, names) !== wanted) continue
    if (options.isReachable !== undefined && !(isReachable(volume) && hasModes(claim, volume))) continue
    const size = sizeOf(volume)
    const order = best === undefined ? -1 : compareQuantities(size, best.size)
    if (best === undefined || order < 0 || (order === 0 && nameOf(volume) < nameOf(best.volume))) best = { volume, size }
  }
  return best?.volume
}

/** True if the claim would get the volume if it were the only one. */
export function isFit(claim: VolumeClaim, volume: Volume, options: MatchOptions): boolean {
  return findVolume(claim, [volume], options) !== undefined
}

/** The reasons why a claim cannot use the volume that it names; undefined if there are none. */
export function mismatchOf(claim: VolumeClaim, volume: Volume, { names, hasAttributeClasses }: MatchOptions): string | undefined {
  if (volume.metadata.deletionTimestamp != null) return `the volume is marked for deletion ${JSON.stringify(nameOf(volume))}`
  if (compareQuantities(sizeOf(volume), requestOf(claim)) < 0) return 'requested PV is too small'
  if (classOf(volume, names) !== classOf(claim, names)) return 'storageClassName does not match'
  const [wanted, found] = [claim.spec.volumeAttributesClassName ?? '', volume.spec.volumeAttributesClassName ?? '']
  if (hasAttributeClasses && wanted !== found) return 'volumeAttributesClassName does not match'
  if (!hasAttributeClasses && (wanted !== '' || found !== ''))
    return 'volumeAttributesClassName is not supported when the feature-gate VolumeAttributesClass is disabled'
  if (modeOf(claim) !== modeOf(volume)) return 'incompatible volumeMode'
  return hasModes(claim, volume) ? undefined : 'incompatible accessMode'
}

/** The volume mode: Filesystem or Block. */
export function modeOf({ spec }: VolumeClaim | Volume): string {
  return spec.volumeMode ?? 'Filesystem'
}

/** True if the volume is not reserved for another claim, is large enough, has the same mode and attributes, and is not being deleted. */
function isCandidate(claim: VolumeClaim, volume: Volume, { hasAttributeClasses }: MatchOptions): boolean {
  if (volume.spec.claimRef != null && !isFor(volume, claim)) return false
  if (volume.metadata.deletionTimestamp != null || modeOf(claim) !== modeOf(volume)) return false
  const attributes = hasAttributeClasses ? (claim.spec.volumeAttributesClassName ?? '') : ''
  if ((volume.spec.volumeAttributesClassName ?? '') !== attributes) return false
  return compareQuantities(sizeOf(volume), requestOf(claim)) >= 0
}

function hasModes({ spec: { accessModes } }: VolumeClaim, { spec }: Volume): boolean {
  return accessModes?.every((mode) => spec.accessModes?.includes(mode) === true) !== false
}

/** An invalid selector selects nothing. */
function selection({ spec: { selector } }: VolumeClaim): (volume: Volume) => boolean {
  if (selector == null) return () => true
  const reading = toLabelRequirements(selector)
  return reading.kind === 'selector' ? ({ metadata }) => matchesLabels(reading.requirements, metadata.labels) : () => false
}

function nameOf({ metadata: { name = '' } }: Volume): string {
  return name
}
