import { defineResource, scaleSubresource, statusSubresource } from '../../../kind/define-resource.ts'
import { deploymentCells } from '../../../table/cells/workloads.ts'
import { wide } from '../../../table/kind-table.ts'
import { type Part, partOf } from '../../../validation/part.ts'
import { fillDeployment, rollbackAnnotation } from '../../defaults/workloads.ts'
import { numberProblemIn } from '../../validation/whole-number.ts'
import { warningsOfOwner } from '../../warnings/rules.ts'

/** Keeps a number of equal pods running and replaces them step by step when their template changes. */
export const deployment = defineResource('apps.Deployment', {
  shortNames: ['deploy'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [scaleSubresource, statusSubresource],
  countsGenerations: true,
  statusKeeps: ['labels'],
  defaults: fillDeployment,
  unreadable: rollbackProblem,
  warnings: warningsOfOwner,
  table: {
    cells: deploymentCells,
    columns: ['Name', 'Ready', 'Up-to-date', 'Available', 'Age', ...wide('Containers', 'Images', 'Selector')],
  },
})

/** Checks the annotation with the rollback revision of an old Deployment. */
function rollbackProblem(deployment: Part): string | undefined {
  const problem = numberProblemIn(deployment, rollbackAnnotation)
  const value = partOf(partOf(deployment, 'metadata'), 'annotations')[rollbackAnnotation]
  return problem && value !== '' ? `failed to parse annotation[${rollbackAnnotation}]=${value} as int64: ${problem}` : undefined
}
