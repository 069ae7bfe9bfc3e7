import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { migrationCells } from '../../../table/cells/storage.ts'

/** A request to store all objects of a resource again. */
export const storageVersionMigration = defineResource('storagemigration.StorageVersionMigration', {
  versions: {
    v1beta1: { since: 35, isOffByDefault: true, deprecated: { since: '1.37', removed: '1.40', replacement: 'v1' } },
    v1: { since: 37 },
  },
  storageVersion: 'v1beta1',
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
