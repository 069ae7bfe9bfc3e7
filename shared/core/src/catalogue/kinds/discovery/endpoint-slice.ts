import { defineResource } from '../../../kind/define-resource.ts'
import { endpointSliceCells } from '../../../table/cells/network.ts'
import { sliceToBeta, sliceToFirst } from '../../conversion/endpoint-slice.ts'
import { fillEndpointSlice } from '../../defaults/network.ts'
import { validateBetaSlice } from '../../validation/endpoints.ts'
import { warningsOfEndpointSlice } from '../../warnings/endpoint-warnings.ts'

/** Part of the backends of a service. The slices of a service are found by their label with its name. */
export const endpointSlice = defineResource({
  versions: [
    { type: 'discovery/v1.EndpointSlice' },
    {
      type: 'discovery/v1beta1.EndpointSlice',
      deprecated: { since: '1.21', removed: '1.25', replacement: 'discovery/v1.EndpointSlice' },
      validation: { main: validateBetaSlice },
      reshape: { toStored: sliceToFirst, fromStored: sliceToBeta },
    },
  ],
  storedAs: 'discovery/v1.EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'Nx3SIv6I0mE=',
  changes: { 31: { storageVersionHash: 'qgS0xkrxYAI=' } },
  countsGenerations: true,
  defaults: fillEndpointSlice,
  warnings: warningsOfEndpointSlice,
  table: {
    cells: endpointSliceCells,
    columns: ['Name', 'AddressType', { name: 'Ports', description: 'Ports of the endpoints.' }, 'Endpoints', 'Age'],
  },
})
