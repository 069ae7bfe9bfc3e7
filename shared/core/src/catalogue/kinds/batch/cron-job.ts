import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { cronJobCells } from '../../../table/cells/workloads.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillCronJob } from '../../defaults/workloads.ts'
import { warningsOfCronJob } from '../../warnings/rules.ts'

/** Makes jobs at set times. */
export const cronJob = defineResource('batch.CronJob', {
  versions: {
    v1: {},
    v1beta1: { deprecated: { since: '1.21', removed: '1.25', replacement: 'v1' } },
  },
  storedAs: 'v1',
  shortNames: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  countsGenerations: true,
  defaults: fillCronJob,
  warnings: warningsOfCronJob,
  table: {
    cells: cronJobCells,
    columns: [
      'Name',
      'Schedule',
      { name: 'Timezone', since: 30 },
      { name: 'Suspend', type: 'boolean' },
      { name: 'Active', type: 'integer' },
      'Last Schedule',
      'Age',
      ...wide('Containers', 'Images', 'Selector'),
    ],
  },
})
