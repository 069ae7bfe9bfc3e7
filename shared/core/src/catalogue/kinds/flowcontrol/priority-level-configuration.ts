import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { priorityLevelConfigurationCells } from '../../../table/cells/configuration.ts'
import { nominalShares } from '../../conversion/priority-level.ts'
import { fillNominalPriorityLevel, fillPriorityLevel, fillPriorityLevelShares } from '../../defaults/policy.ts'
import { validateFlowControlStatus } from '../../validation/flow-control.ts'
import { validateNominalPriorityLevel } from '../../validation/priority-level.ts'

/** Limits of the requests that are served at once, and the queuing of others. */
export const priorityLevelConfiguration = defineResource({
  versions: [
    {
      type: 'flowcontrol/v1beta1.PriorityLevelConfiguration',
      deprecated: { since: '1.23', removed: '1.26', replacement: 'flowcontrol/v1beta2.PriorityLevelConfiguration' },
    },
    {
      type: 'flowcontrol/v1beta2.PriorityLevelConfiguration',
      deprecated: { since: '1.26', removed: '1.29', replacement: 'flowcontrol/v1beta3.PriorityLevelConfiguration' },
    },
    {
      type: 'flowcontrol/v1beta3.PriorityLevelConfiguration',
      since: 26,
      deprecated: { since: '1.29', removed: '1.32', replacement: 'flowcontrol/v1.PriorityLevelConfiguration' },
      defaults: fillNominalPriorityLevel,
      validation: { main: validateNominalPriorityLevel, status: validateFlowControlStatus },
      reshape: nominalShares,
    },
    {
      type: 'flowcontrol/v1.PriorityLevelConfiguration',
      since: 29,
      defaults: fillPriorityLevelShares,
      validation: { main: validateNominalPriorityLevel, status: validateFlowControlStatus },
      reshape: nominalShares,
    },
  ],
  storedAs: 'flowcontrol/v1beta2.PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: 'BFVwf8eYnsw=',
  changes: { 27: { storageVersionHash: '+CwSrEWTDhc=' }, 30: { storageVersionHash: 'Kir5PVfvNeI=' } },
  countsGenerations: true,
  statusKeeps: writersMetadata,
  defaults: fillPriorityLevel,
  validation: { status: validateFlowControlStatus },
  table: {
    cells: priorityLevelConfigurationCells,
    columns: [
      'Name',
      { name: 'Type', description: 'Limited or Exempt.' },
      { name: 'AssuredConcurrencyShares', until: 25 },
      { name: 'NominalConcurrencyShares', since: 26 },
      'Queues',
      'HandSize',
      'QueueLengthLimit',
      'Age',
    ],
  },
})
