import { requireType } from '@orch/core/schema'
import { protectionController } from './protection.ts'

/** Releases persistent volumes under deletion once they are bound to no claim. */
export const volumeProtectionController = protectionController('pv-protection', () => ({
  plural: 'persistentvolumes',
  finalizer: 'pv-protection',
  // A change of the phase is an event of the volume itself.
  isInUse: async (volume) => requireType('core/v1.PersistentVolume', volume).status.phase === 'Bound',
}))
