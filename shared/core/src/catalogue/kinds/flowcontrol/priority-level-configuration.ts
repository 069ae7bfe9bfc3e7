import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { priorityLevelConfigurationCells } from '../../../table/cells/configuration.ts'
import { fillPriorityLevel } from '../../defaults/policy.ts'
import { validateFlowControlStatus, validatePriorityLevel } from '../../validation/flow-control.ts'

/** Bounds on how many requests are served at once, and how others wait. */
export const priorityLevelConfiguration = defineResource({
  kind: 'PriorityLevelConfiguration',
  versions: [
    {
      type: 'flowcontrol/v1beta1.PriorityLevelConfiguration',
      deprecated: { since: '1.23', removed: '1.26', replacement: 'flowcontrol/v1beta2.PriorityLevelConfiguration' },
    },
    { type: 'flowcontrol/v1beta2.PriorityLevelConfiguration', deprecated: { since: '1.26', removed: '1.29' } },
  ],
  storedAs: 'flowcontrol/v1beta2.PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  subresources: [statusSubresource],
  storageVersionHash: 'BFVwf8eYnsw=',
  countsGenerations: true,
  statusKeeps: writersMetadata,
  defaults: fillPriorityLevel,
  validation: { main: validatePriorityLevel, status: validateFlowControlStatus },
  table: {
    cells: priorityLevelConfigurationCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Type', type: 'string', description: 'Whether requests of the level are limited.' },
      { name: 'AssuredConcurrencyShares', type: 'string' },
      { name: 'Queues', type: 'string' },
      { name: 'HandSize', type: 'string' },
      { name: 'QueueLengthLimit', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
