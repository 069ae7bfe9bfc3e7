import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { volumeAttachmentCells } from '../../../table/cells/storage.ts'

/** Asks that a volume be attached to a node, and holds the result. Written by controllers, not by users. */
export const volumeAttachment = defineResource('storage.VolumeAttachment', {
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  deleteAnswer: 'object',
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  table: {
    cells: volumeAttachmentCells,
    columns: ['Name', { name: 'Attacher', format: 'name' }, 'PV', 'Node', { name: 'Attached', type: 'boolean' }, 'Age'],
  },
})
