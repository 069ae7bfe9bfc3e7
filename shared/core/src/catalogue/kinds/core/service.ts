import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { common, same, textsAt } from '../../../kind/selectable-fields.ts'
import { countServices } from '../../../quota/measures.ts'
import { serviceCells } from '../../../table/cells/network.ts'
import { fillService } from '../../defaults/network.ts'
import { warningsOfBalancer, warningsOfService } from '../../warnings/service-warnings.ts'

/** A name and an address under which a set of pods can be reached. */
export const service = defineResource('core.Service', {
  shortNames: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [
    {
      name: 'proxy',
      type: 'core/v1.ServiceProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      optionsType: 'core/v1.ServiceProxyOptions',
      connect: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      reaches: 'endpoints',
      hasSubpath: true,
    },
    statusSubresource,
  ],
  quota: countServices,
  nameKind: 'label1035',
  changes: { 36: { nameKind: 'label' } },
  deleteAnswer: 'object',
  createsOnUpdate: true,
  defaults: fillService,
  selectable: {
    labels: { ...common, ...same('spec.clusterIP', 'spec.type') },
    labelsSince: { 'spec.clusterIP': 31, 'spec.type': 31 },
    fieldsOf: textsAt('spec', ['clusterIP', 'type']),
  },
  warnings: warningsOfService,
  statusWarnings: warningsOfBalancer,
  table: {
    cells: serviceCells,
    columns: [
      'Name',
      { name: 'Type', description: 'Way of reaching the service.' },
      'Cluster-IP',
      'External-IP',
      'Port(s)',
      'Age',
      { name: 'Selector', priority: 1 },
    ],
  },
})
