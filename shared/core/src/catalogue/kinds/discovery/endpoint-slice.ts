import { defineResource } from '../../../kind/define-resource.ts'
import { endpointSliceCells } from '../../../table/cells/network.ts'
import { sliceToBeta, sliceToFirst } from '../../conversion/endpoint-slice.ts'
import { fillEndpointSlice } from '../../defaults/network.ts'
import { validateBetaSlice } from '../../validation/endpoints.ts'
import { warningsOfEndpointSlice } from '../../warnings/endpoint-warnings.ts'

/** Part of the backends of a service. The slices of a service are found by their label with its name. */
export const endpointSlice = defineResource('discovery.EndpointSlice', {
  versions: {
    v1: {},
    v1beta1: {
      deprecated: { since: '1.21', removed: '1.25', replacement: 'v1' },
      validation: { main: validateBetaSlice },
      reshape: { toStored: sliceToFirst, fromStored: sliceToBeta },
    },
  },
  storedAs: 'v1',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersion: 'v1beta1',
  changes: { 31: { storageVersion: 'v1' } },
  countsGenerations: true,
  defaults: fillEndpointSlice,
  warnings: warningsOfEndpointSlice,
  table: {
    cells: endpointSliceCells,
    columns: ['Name', 'AddressType', { name: 'Ports', description: 'Ports of the endpoints.' }, 'Endpoints', 'Age'],
  },
})
