import type { ApiObject } from '@orch/core/meta'
import { domainGroup, domainLabel } from '@orch/core/names'
import type { Volume, VolumeClaim } from '@orch/core/workloads'
import { type Caches, done, mapped, own, reconciler } from '../reconciler/index.ts'
import { isHeld, removeFinalizer } from './protection.ts'

/** Releases classes of volume attributes under deletion once no claim and no volume names them. */
export const classProtectionController = reconciler('vac-protection', ({ names }) => {
  const finalizer = domainLabel(names, 'vac-protection')
  const classes = own(`${domainGroup(names, 'storage')}/v1`, 'volumeattributesclasses')
  const heldClasses = (_event: unknown, caches: Caches) =>
    [...caches.read(classes).values()].filter((one) => isHeld(one, finalizer)).map(({ metadata }) => metadata.name ?? '')
  const claims = mapped<VolumeClaim>('v1', 'persistentvolumeclaims', heldClasses, { isLazy: true })
  const volumes = mapped<Volume>('v1', 'persistentvolumes', heldClasses, { isLazy: true })
  return {
    watches: [classes, claims, volumes],
    reconcile: async ({ key, object, world, signal }) => {
      if (!isHeld(object, finalizer)) return done
      const isUsed = (claimed: Iterable<VolumeClaim>, made: Iterable<Volume>) =>
        [...claimed].some((claim) => classesOf(claim).includes(key)) || [...made].some(({ spec }) => spec.volumeAttributesClassName === key)
      if (isUsed(world.read(claims).values(), world.read(volumes).values())) return done
      // The caches may lack new claims and volumes.
      const all = await Promise.all([world.collection(claims).listAll({ signal }), world.collection(volumes).listAll({ signal })])
      if (!isUsed(all[0].items, all[1].items)) await removeFinalizer(world.collection<ApiObject>(classes), object, finalizer, signal)
      return done
    },
  }
})

function classesOf({ spec, status }: VolumeClaim): (string | null | undefined)[] {
  return [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
}
