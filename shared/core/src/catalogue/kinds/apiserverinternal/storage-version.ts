import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { checkLabel1035, checkSubdomain } from '../../../meta/validate-names.ts'
import { storageVersionCells } from '../../../table/cells/cluster.ts'

/** The storage versions of a resource on each server of the cluster. Its name is group.resource. */
export const storageVersion = defineResource('apiserverinternal.StorageVersion', {
  versions: { v1alpha1: {} },
  scope: 'Cluster',
  subresources: [statusSubresource],
  nameKind: () => checkGroupAndResource,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  table: { cells: storageVersionCells, columns: ['Name', 'CommonEncodingVersion', 'StorageVersions', 'Age'] },
})

function checkGroupAndResource(name: string): readonly string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  const group = checkSubdomain(name.slice(0, dot)).map((problem) => `the group segment ${problem}`)
  return [...group, ...checkLabel1035(name.slice(dot + 1)).map((problem) => `the resource segment ${problem}`)]
}
