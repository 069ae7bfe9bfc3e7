import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'

/** A request to store all objects of a resource again. */
export const storageVersionMigration = defineResource({
  kind: 'StorageVersionMigration',
  versions: [{ type: 'storagemigration/v1.StorageVersionMigration' }],
  storedAs: 'storagemigration/v1.StorageVersionMigration',
  plural: 'storageversionmigrations',
  changes: { 37: { storageVersionHash: 'pCjmmKOkLy4=' } },
  scope: 'Cluster',
  subresources: [statusSubresource],
  takesBareFinalizers: true,
  replacesUnconditionally: false,
})
