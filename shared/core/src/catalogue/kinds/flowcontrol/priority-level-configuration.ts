import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { priorityLevelConfigurationCells } from '../../../table/cells/configuration.ts'
import { nominalShares } from '../../conversion/priority-level.ts'
import { fillNominalPriorityLevel, fillPriorityLevel, fillPriorityLevelShares } from '../../defaults/policy.ts'
import { validateFlowControlStatus } from '../../validation/flow-control.ts'
import { validateNominalPriorityLevel } from '../../validation/priority-level.ts'

/** Limits of the requests that are served at once, and the queuing of others. */
export const priorityLevelConfiguration = defineResource('flowcontrol.PriorityLevelConfiguration', {
  versions: {
    v1beta1: { deprecated: { since: '1.23', removed: '1.26', replacement: 'v1beta2' } },
    v1beta2: { deprecated: { since: '1.26', removed: '1.29', replacement: 'v1beta3' } },
    v1beta3: {
      since: 26,
      deprecated: { since: '1.29', removed: '1.32', replacement: 'v1' },
      defaults: fillNominalPriorityLevel,
      validation: { main: validateNominalPriorityLevel, status: validateFlowControlStatus },
      reshape: nominalShares,
    },
    v1: {
      since: 29,
      defaults: fillPriorityLevelShares,
      validation: { main: validateNominalPriorityLevel, status: validateFlowControlStatus },
      reshape: nominalShares,
    },
  },
  storedAs: 'v1beta2',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersion: 'v1beta1',
  changes: { 27: { storageVersion: 'v1beta3' }, 30: { storageVersion: 'v1' } },
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
