import type { InformerEvent } from '@orch/client'
import { hasAnnotation, isLargerThanStatus, type Volume, type VolumeClaim, volumeNames } from '@orch/core/workloads'
import { aboutObject, type Controller, done, own, reconciler } from '../reconciler/index.ts'
import { workloadBackoff } from './claims.ts'
import type { ServedLevel } from './replica-controllers.ts'

const volumes = { group: '', version: 'v1', plural: 'persistentvolumes', namespaced: false } as const

const claims = own<VolumeClaim>('v1', 'persistentvolumeclaims', { isDue })

/** A bound claim is checked when it is new, and when its request or its capacity has grown. */
function isDue(event: InformerEvent<VolumeClaim>): boolean {
  const { kind, object } = event
  if (object.status.phase !== 'Bound' || kind === 'deleted') return false
  return kind === 'added' || sizesOf(object) !== sizesOf(event.before)
}

function sizesOf({ spec, status }: VolumeClaim): string {
  return `${spec.resources?.requests?.['storage']} ${status.capacity?.['storage']}`
}

/** Below this level, a volume whose kind has no plugin in kube-controller-manager gets a warning. */
const unmatchedWarningBelow = 33
const formerMessage =
  "Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC."

/** Reports that a claim with a larger request waits for a resizer (WL-PV-21). */
export function volumeExpander({ level }: ServedLevel): Controller {
  const message = level < 27 ? formerMessage : 'waiting for an external controller to expand this PVC'
  return reconciler<VolumeClaim>('persistentvolume-expander', ({ names }) => ({
    watches: [claims],
    backoff: workloadBackoff,
    component: 'volume_expand',
    reconcile: async ({ key, object: claim, world, signal }) => {
      const { namespace, uid = '' } = claim.metadata
      const volume = await world.client.resource<Volume>(volumes).get(claim.spec.volumeName ?? '', { signal })
      const { claimRef } = volume.spec
      if (claimRef?.uid !== uid || claimRef.namespace !== namespace) throw new Error(`the volume of ${key} is not bound to it`)
      if (!isLargerThanStatus(claim) && !hasAnnotation(volume, volumeNames(names).sizeBeforeResize)) return done
      const about = aboutObject({ apiVersion: 'v1', kind: 'PersistentVolumeClaim' }, claim)
      const type = level < unmatchedWarningBelow && volume.spec['fc'] == null ? 'Warning' : 'Normal'
      world.record(about, { type, reason: 'ExternalExpanding', message })
      return done
    },
  }))
}
