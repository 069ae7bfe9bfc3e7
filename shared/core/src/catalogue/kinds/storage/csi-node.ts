import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { csiNodeCells } from '../../../table/cells/storage.ts'

/** The volume drivers installed on one node. It has the name of the node, belongs to it, and is written by its agent. */
export const csiNode = defineResource('storage.CSINode', {
  scope: 'Cluster',
  rechecksName: true,
  subresources: [{ ...statusSubresource, since: 37 }],
  statusKeeps: writersMetadata,
  deleteAnswer: 'object',
  replacesUnconditionally: false,
  table: { cells: csiNodeCells, columns: ['Name', { name: 'Drivers', type: 'integer' }, 'Age'] },
})
