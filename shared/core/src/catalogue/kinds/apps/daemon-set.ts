import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { daemonSetCells } from '../../../table/cells/workloads.ts'
import { integers, wide } from '../../../table/kind-table.ts'
import { fillDaemonSet, templateGenerationAnnotation } from '../../defaults/workloads.ts'
import { numberProblemIn } from '../../validation/whole-number.ts'
import { warningsOfDaemonSet } from '../../warnings/rules.ts'

/** Keeps one pod running on every node that matches. */
export const daemonSet = defineResource('apps.DaemonSet', {
  shortNames: ['ds'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  countsGenerations: true,
  defaults: fillDaemonSet,
  unreadable: (set) => numberProblemIn(set, templateGenerationAnnotation),
  warnings: warningsOfDaemonSet,
  table: {
    cells: daemonSetCells,
    columns: [
      'Name',
      { name: 'Desired', type: 'integer', description: 'Number of nodes that should run the pod.' },
      { name: 'Current', type: 'integer', description: 'Number of nodes that run the pod as desired.' },
      ...integers('Ready', 'Up-to-date', 'Available'),
      'Node Selector',
      'Age',
      ...wide('Containers', 'Images', 'Selector'),
    ],
  },
})
