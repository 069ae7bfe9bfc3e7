import { defineResource } from '../../../kind/define-resource.ts'
import { endpointsCells } from '../../../table/cells/network.ts'
import { fillEndpoints } from '../../defaults/network.ts'
import { warningsOfEndpoints } from '../../warnings/endpoint-warnings.ts'

/** The addresses behind a service of the same name. Every subset means all pairs of its addresses and ports. */
export const endpoints = defineResource('core.Endpoints', {
  versions: { v1: { deprecated: { since: '1.33', replacement: 'discovery/v1.EndpointSlice' } } },
  plural: 'endpoints',
  shortNames: ['ep'],
  scope: 'Namespaced',
  rechecksName: true,
  createsOnUpdate: true,
  defaults: fillEndpoints,
  warnings: warningsOfEndpoints,
  table: { cells: endpointsCells, columns: ['Name', 'Endpoints', 'Age'] },
})
