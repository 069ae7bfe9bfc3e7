import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { storageVersionCells } from '../../../table/cells/cluster.ts'

/** The storage versions of a resource on each server of the cluster. Its name is group.resource. */
export const storageVersion = defineResource({
  versions: [{ type: 'apiserverinternal/v1alpha1.StorageVersion' }],
  plural: 'storageversions',
  scope: 'Cluster',
  subresources: [statusSubresource],
  storageVersionHash: 'c8YZt5U0nPk=',
  nameKind: 'pathSegment',
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  table: { cells: storageVersionCells, columns: ['Name', 'CommonEncodingVersion', 'StorageVersions', 'Age'] },
})
