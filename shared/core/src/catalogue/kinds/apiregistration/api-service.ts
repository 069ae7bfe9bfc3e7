import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { apiServiceCells } from '../../../table/cells/cluster.ts'
import { fillApiService } from '../../defaults/policy.ts'
import { serviceNames } from '../../validation/api-service.ts'

/** A group version of the API, and the service that serves it. */
export const apiService = defineResource('apiregistration.APIService', {
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  nameKind: serviceNames,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  statusKeeps: ['labels', 'annotations', 'ownerReferences', 'finalizers'],
  defaults: fillApiService,
  table: {
    cells: apiServiceCells,
    columns: ['Name', 'Service', { name: 'Available', description: 'True if the service answers for its group version.' }, 'Age'],
  },
})
