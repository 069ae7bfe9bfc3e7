import { defineResource } from '../../../kind/define-resource.ts'
import { leaseCells } from '../../../table/cells/cluster.ts'

/** A claim for a time, by which programs agree on a leader or show that they are alive. */
export const lease = defineResource({
  versions: [{ type: 'coordination/v1.Lease' }],
  plural: 'leases',
  scope: 'Namespaced',
  takesBareFinalizers: true,
  storageVersionHash: 'gqkMMb/YqFM=',
  createsOnUpdate: true,
  replacesUnconditionally: false,
  table: { cells: leaseCells, columns: ['Name', 'Holder', 'Age'] },
})
