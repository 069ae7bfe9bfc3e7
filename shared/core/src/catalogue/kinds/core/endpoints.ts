import { defineResource } from '../../../kind/define-resource.ts'
import { endpointsCells } from '../../../table/cells/network.ts'
import { fillEndpoints } from '../../defaults/network.ts'
import { warningsOfEndpoints } from '../../warnings/endpoint-warnings.ts'

/** The addresses behind a service of the same name. Every subset means all pairs of its addresses and ports. */
export const endpoints = defineResource({
  versions: [{ type: 'core/v1.Endpoints', deprecated: { since: '1.33', replacement: 'discovery/v1.EndpointSlice' } }],
  plural: 'endpoints',
  shortNames: ['ep'],
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'fWeeMqaN/OA=',
  createsOnUpdate: true,
  defaults: fillEndpoints,
  warnings: warningsOfEndpoints,
  table: { cells: endpointsCells, columns: ['Name', 'Endpoints', 'Age'] },
})
