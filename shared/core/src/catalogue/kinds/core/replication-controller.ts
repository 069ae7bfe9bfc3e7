import { defineResource, scaleSubresource, statusSubresource } from '../../../kind/define-resource.ts'
import { common, memberOf, same } from '../../../kind/selectable-fields.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { replicationControllerCells } from '../../../table/cells/workloads.ts'
import { integers, wide } from '../../../table/kind-table.ts'
import { fillReplicationController } from '../../defaults/workloads.ts'
import { warningsOfOwner } from '../../warnings/rules.ts'

/** Keeps a number of equal pods running. Newer objects use a ReplicaSet, made by a Deployment. */
export const replicationController = defineResource('core.ReplicationController', {
  shortNames: ['rc'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: [scaleSubresource, statusSubresource],
  changes: { 37: { nameKind: 'longName' } },
  quota: countByPlural,
  deleteAnswer: 'statusUnasked',
  defaultPropagation: 'Orphan',
  countsGenerations: true,
  selectable: {
    labels: { ...common, ...same('status.replicas') },
    fieldsOf: (controller) => ({ 'status.replicas': String(memberOf(controller['status'], 'replicas') ?? 0) }),
  },
  defaults: fillReplicationController,
  warnings: warningsOfOwner,
  table: {
    cells: replicationControllerCells,
    columns: ['Name', ...integers('Desired', 'Current', 'Ready'), 'Age', ...wide('Containers', 'Images', 'Selector')],
  },
})
