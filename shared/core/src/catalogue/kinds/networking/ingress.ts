import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { ingressCells } from '../../../table/cells/network.ts'
import { warningsOfIngress } from '../../warnings/rules.ts'
import { warningsOfBalancer } from '../../warnings/service-warnings.ts'

/** Rules by which requests from outside reach services of the cluster. */
export const ingress = defineResource({
  kind: 'Ingress',
  versions: [{ type: 'networking/v1.Ingress' }],
  storedAs: 'networking/v1.Ingress',
  plural: 'ingresses',
  groupInMessages: 'extensions',
  changes: { 33: { groupInMessages: undefined } },
  shortNames: ['ing'],
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: '39NQlfNR+bo=',
  countsGenerations: true,
  warnings: warningsOfIngress,
  statusWarnings: warningsOfBalancer,
  table: {
    cells: ingressCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Class', type: 'string' },
      { name: 'Hosts', type: 'string' },
      { name: 'Address', type: 'string' },
      { name: 'Ports', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
