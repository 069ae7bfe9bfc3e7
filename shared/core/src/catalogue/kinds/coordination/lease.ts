import { defineResource } from '../../../kind/define-resource.ts'
import { leaseCells } from '../../../table/cells/cluster.ts'

/** A claim for a time, by which programs agree on a leader or show that they are alive. */
export const lease = defineResource('coordination.Lease', {
  scope: 'Namespaced',
  takesBareFinalizers: true,
  createsOnUpdate: true,
  replacesUnconditionally: false,
  table: { cells: leaseCells, columns: ['Name', 'Holder', 'Age'] },
})
