import { defineResource, scaleSubresource, statusSubresource } from '../../../kind/define-resource.ts'
import { statefulSetCells } from '../../../table/cells/workloads.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillStatefulSet } from '../../defaults/workloads.ts'
import { warningsOfStatefulSet } from '../../warnings/rules.ts'

/** Keeps a number of pods running, each with a stable name and stable storage. */
export const statefulSet = defineResource('apps.StatefulSet', {
  shortNames: ['sts'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [scaleSubresource, statusSubresource],
  changes: { 27: { nameKind: 'label' } },
  countsGenerations: true,
  defaults: fillStatefulSet,
  warnings: warningsOfStatefulSet,
  table: { cells: statefulSetCells, columns: ['Name', 'Ready', 'Age', ...wide('Containers', 'Images')] },
})
