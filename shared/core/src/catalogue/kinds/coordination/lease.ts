import { defineResource } from '../../../kind/define-resource.ts'
import { leaseCells } from '../../../table/cells/cluster.ts'

/** A claim for a time, by which programs agree on a leader or show that they are alive. */
export const lease = defineResource({
  kind: 'Lease',
  versions: [{ type: 'coordination/v1.Lease' }],
  storedAs: 'coordination/v1.Lease',
  plural: 'leases',
  scope: 'Namespaced',
  takesBareFinalizers: true,
  storageVersionHash: 'gqkMMb/YqFM=',
  createsOnUpdate: true,
  replacesUnconditionally: false,
  table: {
    cells: leaseCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Holder', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
