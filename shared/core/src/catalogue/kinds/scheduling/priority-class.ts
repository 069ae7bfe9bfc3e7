import { defineResource } from '../../../kind/define-resource.ts'
import { priorityClassCells } from '../../../table/cells/cluster.ts'
import { fillPriorityClass } from '../../defaults/policy.ts'
import { validatePriorityClass } from '../../validation/small-kinds.ts'

/** A name for a priority that pods can have. */
export const priorityClass = defineResource('scheduling.PriorityClass', {
  shortNames: ['pc'],
  scope: 'Cluster',
  countsGenerations: true,
  defaults: fillPriorityClass,
  validation: { main: validatePriorityClass },
  table: {
    cells: priorityClassCells,
    columns: [
      'Name',
      { name: 'Value', type: 'integer' },
      { name: 'Global-Default', type: 'boolean' },
      'Age',
      { name: 'PreemptionPolicy', since: 32 },
    ],
  },
})
