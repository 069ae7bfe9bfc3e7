import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { networkPolicyCells } from '../../../table/cells/network.ts'
import { fillNetworkPolicy } from '../../defaults/network.ts'
import { warningsOfNetworkPolicy } from '../../warnings/endpoint-warnings.ts'

/** Defines the allowed traffic of pods in the namespace. Pods that no policy selects have no restrictions. */
export const networkPolicy = defineResource('networking.NetworkPolicy', {
  groupInMessages: 'extensions',
  changes: { 26: { groupInMessages: undefined } },
  shortNames: ['netpol'],
  scope: 'Namespaced',
  subresources: [{ ...statusSubresource, until: 27, featureGate: 'NetworkPolicyStatus' }],
  countsGenerations: true,
  defaults: fillNetworkPolicy,
  warnings: warningsOfNetworkPolicy,
  table: { cells: networkPolicyCells, columns: ['Name', 'Pod-Selector', 'Age'] },
})
