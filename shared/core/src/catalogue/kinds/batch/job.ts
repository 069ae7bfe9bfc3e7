import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { common, memberOf, same } from '../../../kind/selectable-fields.ts'
import { jobCells } from '../../../table/cells/workloads.ts'
import { wide } from '../../../table/kind-table.ts'
import { fillJob } from '../../defaults/workloads.ts'
import { warningsOfJob } from '../../warnings/rules.ts'

/** Runs pods until enough of them have succeeded. */
export const job = defineResource('batch.Job', {
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  defaultPropagation: 'Orphan',
  defaultPropagationWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  countsGenerations: true,
  isNamedBySelectors: true,
  selectable: {
    labels: { ...common, ...same('status.successful') },
    fieldsOf: (job) => ({ 'status.successful': String(memberOf(job['status'], 'succeeded') ?? 0) }),
  },
  defaults: fillJob,
  warnings: warningsOfJob,
  table: {
    cells: jobCells,
    columns: ['Name', { name: 'Status', since: 30 }, 'Completions', 'Duration', 'Age', ...wide('Containers', 'Images', 'Selector')],
  },
})
