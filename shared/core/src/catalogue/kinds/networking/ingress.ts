import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { ingressCells } from '../../../table/cells/network.ts'
import { warningsOfIngress } from '../../warnings/rules.ts'
import { warningsOfBalancer } from '../../warnings/service-warnings.ts'

/** Rules by which requests from outside reach services of the cluster. */
export const ingress = defineResource('networking.Ingress', {
  groupInMessages: 'extensions',
  changes: { 26: { groupInMessages: undefined } },
  shortNames: ['ing'],
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [statusSubresource],
  countsGenerations: true,
  warnings: warningsOfIngress,
  statusWarnings: warningsOfBalancer,
  table: { cells: ingressCells, columns: ['Name', 'Class', 'Hosts', 'Address', 'Ports', 'Age'] },
})
