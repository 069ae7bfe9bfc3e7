import { defineResource } from '../../../kind/define-resource.ts'
import { warningsOfStorageCapacity } from '../../warnings/node-label-warnings.ts'

/** The free capacity for new volumes of one storage class in one part of the cluster. */
export const csiStorageCapacity = defineResource('storage.CSIStorageCapacity', {
  versions: {
    v1: {},
    v1beta1: { deprecated: { since: '1.24', removed: '1.27', replacement: 'v1' } },
  },
  storedAs: 'v1',
  scope: 'Namespaced',
  rechecksName: true,
  replacesUnconditionally: false,
  warnings: warningsOfStorageCapacity,
})
