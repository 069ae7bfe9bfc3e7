import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { ingressCells } from '../../../table/cells/network.ts'
import { warningsOfIngress } from '../../warnings/rules.ts'
import { warningsOfBalancer } from '../../warnings/service-warnings.ts'

/** Rules by which requests from outside reach services of the cluster. */
export const ingress = defineResource({
  versions: [{ type: 'networking/v1.Ingress' }],
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
  table: { cells: ingressCells, columns: ['Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'] },
})
