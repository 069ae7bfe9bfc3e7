import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { migrationCells } from '../../../table/cells/storage.ts'

/** A request to store all objects of a resource again. */
export const storageVersionMigration = defineResource({
  versions: [
    {
      type: 'storagemigration/v1beta1.StorageVersionMigration',
      since: 35,
      isOffByDefault: true,
      deprecated: { since: '1.37', removed: '1.40', replacement: 'storagemigration/v1.StorageVersionMigration' },
    },
    { type: 'storagemigration/v1.StorageVersionMigration', since: 37 },
  ],
  plural: 'storageversionmigrations',
  storageVersionHash: 'pCjmmKOkLy4=',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  replacesUnconditionally: false,
  table: {
    cells: migrationCells,
    columns: [{ name: 'Name', format: '' }, { name: 'Resource', description: 'The resource whose objects are rewritten.' }, 'Status'],
  },
})
