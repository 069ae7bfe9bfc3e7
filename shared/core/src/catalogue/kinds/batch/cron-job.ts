import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { cronJobCells } from '../../../table/cells/workloads.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillCronJob } from '../../defaults/workloads.ts'
import { warningsOfCronJob } from '../../warnings/rules.ts'

/** Makes jobs at set times. */
export const cronJob = defineResource({
  versions: [
    { type: 'batch/v1.CronJob' },
    { type: 'batch/v1beta1.CronJob', deprecated: { since: '1.21', removed: '1.25', replacement: 'batch/v1.CronJob' } },
  ],
  storedAs: 'batch/v1.CronJob',
  plural: 'cronjobs',
  shortNames: ['cj'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersionHash: 'sd5LIXh4Fjs=',
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
