import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { apiServiceCells } from '../../../table/cells/cluster.ts'
import { fillApiService } from '../../defaults/policy.ts'
import { serviceNames } from '../../validation/api-service.ts'

/** A group version of the API, and the service that serves it. */
export const apiService = defineResource({
  versions: [{ type: 'apiregistration/v1.APIService' }],
  plural: 'apiservices',
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: 'InPBPD7+PqM=',
  nameKind: serviceNames,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  statusKeeps: writersMetadata,
  defaults: fillApiService,
  table: {
    cells: apiServiceCells,
    columns: ['Name', 'Service', { name: 'Available', description: 'True if the service answers for its group version.' }, 'Age'],
  },
})
