import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { podDisruptionBudgetCells } from '../../../table/cells/workloads.ts'
import { budgetToBeta, budgetToFirst } from '../../conversion/disruption-budget.ts'

/** Bounds how many pods of a group may be evicted at once. */
export const podDisruptionBudget = defineResource({
  versions: [
    { type: 'policy/v1.PodDisruptionBudget' },
    {
      type: 'policy/v1beta1.PodDisruptionBudget',
      deprecated: { since: '1.21', removed: '1.25', replacement: 'policy/v1.PodDisruptionBudget' },
      reshape: { toStored: budgetToFirst, fromStored: budgetToBeta },
    },
  ],
  storedAs: 'policy/v1.PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  shortNames: ['pdb'],
  scope: 'Namespaced',
  // Names are not restricted to DNS names.
  nameKind: 'pathSegment',
  takesBareFinalizers: true,
  subresources: [statusSubresource],
  storageVersionHash: '6BGBu0kpHtk=',
  changes: { 27: { storageVersionHash: 'EVWiDmWqyJw=' } },
  replacesUnconditionally: false,
  countsGenerations: true,
  table: {
    cells: podDisruptionBudgetCells,
    columns: ['Name', 'Min Available', 'Max Unavailable', { name: 'Allowed Disruptions', type: 'integer' }, 'Age'],
  },
})
