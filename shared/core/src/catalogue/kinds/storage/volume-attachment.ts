import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { volumeAttachmentCells } from '../../../table/cells/storage.ts'

/** Asks that a volume be attached to a node, and holds the result. Written by controllers, not by users. */
export const volumeAttachment = defineResource({
  kind: 'VolumeAttachment',
  versions: [{ type: 'storage/v1.VolumeAttachment' }],
  storedAs: 'storage/v1.VolumeAttachment',
  plural: 'volumeattachments',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: 'tJx/ezt6UDU=',
  deleteAnswer: 'object',
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  table: {
    cells: volumeAttachmentCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Attacher', type: 'string', format: 'name' },
      { name: 'PV', type: 'string' },
      { name: 'Node', type: 'string' },
      { name: 'Attached', type: 'boolean' },
      { name: 'Age', type: 'string' },
    ],
  },
})
