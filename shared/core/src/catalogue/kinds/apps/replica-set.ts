import { defineResource, scaleSubresource, statusSubresource } from '../../../kind/define-resource.ts'
import { replicaSetCells } from '../../../table/cells/workloads.ts'
import { integers, wide } from '../../../table/kind-table.ts'
import { fillReplicaSet } from '../../defaults/workloads.ts'
import { warningsOfOwner } from '../../warnings/rules.ts'

/** Keeps a number of equal pods running. Mostly made by a Deployment. */
export const replicaSet = defineResource('apps.ReplicaSet', {
  shortNames: ['rs'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [scaleSubresource, statusSubresource],
  countsGenerations: true,
  defaults: fillReplicaSet,
  warnings: warningsOfOwner,
  table: {
    cells: replicaSetCells,
    columns: ['Name', ...integers('Desired', 'Current', 'Ready'), 'Age', ...wide('Containers', 'Images', 'Selector')],
  },
})
