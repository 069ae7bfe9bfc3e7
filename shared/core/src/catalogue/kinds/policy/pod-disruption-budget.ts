import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { podDisruptionBudgetCells } from '../../../table/cells/workloads.ts'
import { budgetToBeta, budgetToFirst } from '../../conversion/disruption-budget.ts'

/** Bounds how many pods of a group may be evicted at once. */
export const podDisruptionBudget = defineResource('policy.PodDisruptionBudget', {
  versions: {
    v1: {},
    v1beta1: {
      deprecated: { since: '1.21', removed: '1.25', replacement: 'v1' },
      reshape: { toStored: budgetToFirst, fromStored: budgetToBeta },
    },
  },
  storedAs: 'v1',
  shortNames: ['pdb'],
  scope: 'Namespaced',
  // Names are not restricted to DNS names.
  nameKind: 'pathSegment',
  takesBareFinalizers: true,
  subresources: [statusSubresource],
  storageVersion: 'v1beta1',
  changes: { 27: { storageVersion: 'v1' } },
  replacesUnconditionally: false,
  countsGenerations: true,
  table: {
    cells: podDisruptionBudgetCells,
    columns: ['Name', 'Min Available', 'Max Unavailable', { name: 'Allowed Disruptions', type: 'integer' }, 'Age'],
  },
})
