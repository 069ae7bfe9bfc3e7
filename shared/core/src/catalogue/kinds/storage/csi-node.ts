import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { csiNodeCells } from '../../../table/cells/storage.ts'

/** The volume drivers installed on one node. It has the name of the node, belongs to it, and is written by its agent. */
export const csiNode = defineResource({
  versions: [{ type: 'storage/v1.CSINode' }],
  plural: 'csinodes',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [{ ...statusSubresource, since: 37 }],
  storageVersionHash: 'Pe62DkZtjuo=',
  deleteAnswer: 'object',
  replacesUnconditionally: false,
  table: { cells: csiNodeCells, columns: ['Name', { name: 'Drivers', type: 'integer' }, 'Age'] },
})
