import { defineResource } from '../../../kind/define-resource.ts'
import { warningsOfStorageCapacity } from '../../warnings/node-label-warnings.ts'

/** The free capacity for new volumes of one storage class in one part of the cluster. */
export const csiStorageCapacity = defineResource({
  versions: [
    { type: 'storage/v1.CSIStorageCapacity' },
    {
      type: 'storage/v1beta1.CSIStorageCapacity',
      deprecated: { since: '1.24', removed: '1.27', replacement: 'storage/v1.CSIStorageCapacity' },
    },
  ],
  storedAs: 'storage/v1.CSIStorageCapacity',
  plural: 'csistoragecapacities',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'xeVl+2Ly1kE=',
  replacesUnconditionally: false,
  warnings: warningsOfStorageCapacity,
})
