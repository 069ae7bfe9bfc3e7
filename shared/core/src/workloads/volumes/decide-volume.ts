import type { WorkloadEvent } from '../pods.ts'
import type { VolumeClaim } from '../stateful-set/claims.ts'
import { modeOf } from './match.ts'
import { hasAnnotation, type Volume, type VolumeNames } from './objects.ts'

/** Below this level, a driver's volume without a provisioner cannot be deleted. */
const driverDeletesSince = 28

/** The next step of a volume. */
export type VolumePlan =
  | { readonly kind: 'phase'; readonly phase: 'Available' | 'Bound' }
  /** The binding is incomplete, so its claim must be processed. */
  | { readonly kind: 'complete' }
  /** The claim cannot use the volume. */
  | { readonly kind: 'mismatch'; readonly ofVolume: WorkloadEvent; readonly ofClaim: WorkloadEvent }
  | { readonly kind: 'unbind' }
  /** The claim is gone or has another volume: the phase becomes Released, unless it is Failed, and then the reclaim policy applies. */
  | { readonly kind: 'release'; readonly next: Reclaim }

type Reclaim =
  /** The volume is retained, or deleted by its external provisioner. */
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete' }
  /** The phase becomes Failed; the event is recorded if the phase changes. */
  | { readonly kind: 'fail'; readonly event: WorkloadEvent }

/**
 * The next step of a volume. `claim` is the referenced claim, if it exists with that uid (WL-PV-01, WL-PV-17 to WL-PV-20).
 *
 *   no reference to a claim              Available
 *   the claim names it                   Bound
 *   the claim is gone, policy Retain     Released
 */
export function decideVolume(
  volume: Volume,
  claim: VolumeClaim | undefined,
  { names, level }: { readonly names: VolumeNames; readonly level: number },
): VolumePlan {
  const { claimRef } = volume.spec
  if ((claimRef?.uid ?? '') === '') return { kind: 'phase', phase: 'Available' }
  if (claim === undefined) return { kind: 'release', next: reclaim(volume, names, level) }
  const { volumeName = '' } = claim.spec
  if (volumeName === '' && modeOf(claim) !== modeOf(volume)) return mismatch(volume, claim)
  if (volumeName === '') return { kind: 'complete' }
  if (volumeName === volume.metadata.name) return { kind: 'phase', phase: 'Bound' }
  const isForNothing = hasAnnotation(volume, names.provisionedBy) && volume.spec.persistentVolumeReclaimPolicy === 'Delete'
  return isForNothing ? { kind: 'release', next: reclaim(volume, names, level) } : { kind: 'unbind' }
}

function mismatch(volume: Volume, claim: VolumeClaim): VolumePlan {
  const of = (message: string): WorkloadEvent => ({ type: 'Warning', reason: 'VolumeMismatch', message })
  const why = 'due to incompatible volumeMode.'
  return {
    kind: 'mismatch',
    ofVolume: of(`Cannot bind PersistentVolume to requested PersistentVolumeClaim ${JSON.stringify(claim.metadata.name)} ${why}`),
    ofClaim: of(`Cannot bind PersistentVolume ${JSON.stringify(volume.metadata.name)} to requested PersistentVolumeClaim ${why}`),
  }
}

function reclaim(volume: Volume, names: VolumeNames, level: number): Reclaim {
  if (hasAnnotation(volume, names.migratedTo)) return { kind: 'keep' }
  switch (volume.spec.persistentVolumeReclaimPolicy) {
    case 'Retain':
      return { kind: 'keep' }
    case 'Recycle':
      return failed('VolumeFailedRecycle', 'No recycler plugin found for the volume!')
    case 'Delete':
      return deletion(volume, names, level)
    default:
      return failed('VolumeUnknownReclaimPolicy', 'Volume has unrecognized PersistentVolumeReclaimPolicy')
  }
}

function failed(reason: string, message: string): Reclaim {
  return { kind: 'fail', event: { type: 'Warning', reason, message } }
}

/** The provisioner deletes a driver's volume. For a hostPath volume, only the object is deleted. */
function deletion({ metadata, spec }: Volume, { provisionedBy, builtInPrefix }: VolumeNames, level: number): Reclaim {
  const provisioner = metadata.annotations?.[provisionedBy] ?? ''
  const undeletable = (why: string) => failed('VolumeFailedDelete', why)
  const missing = (why: string) => undeletable(`error getting deleter volume plugin for volume ${JSON.stringify(metadata.name)}: ${why}`)
  if (provisioner !== '' && !provisioner.startsWith(builtInPrefix)) return { kind: 'keep' }
  if (provisioner !== '' && provisioner !== `${builtInPrefix}host-path`) return undeletable(`no volume plugin matched name: ${provisioner}`)
  if (spec.csi != null && level >= driverDeletesSince) return { kind: 'keep' }
  if (spec.csi != null || spec.nfs != null) return missing('no deletable volume plugin matched')
  if (spec.hostPath == null) return missing('no volume plugin matched')
  const { path } = spec.hostPath
  return /\/tmp\/.+/.test(path) ? { kind: 'delete' } : undeletable(`host_path deleter only supports /tmp/.+ but received provided ${path}`)
}
