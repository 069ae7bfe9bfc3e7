import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { storageVersionCells } from '../../../table/cells/cluster.ts'

/** The storage versions of a resource on each server of the cluster. Its name is group.resource. */
export const storageVersion = defineResource('apiserverinternal.StorageVersion', {
  versions: { v1alpha1: {} },
  scope: 'Cluster',
  subresources: [statusSubresource],
  nameKind: 'pathSegment',
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  table: { cells: storageVersionCells, columns: ['Name', 'CommonEncodingVersion', 'StorageVersions', 'Age'] },
})
