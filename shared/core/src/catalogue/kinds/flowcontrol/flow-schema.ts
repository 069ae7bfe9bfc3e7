import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { flowSchemaCells } from '../../../table/cells/configuration.ts'
import { fillFlowSchema } from '../../defaults/policy.ts'
import { validateFlowControlStatus } from '../../validation/flow-control.ts'

/** Sorts requests into a priority level. */
export const flowSchema = defineResource('flowcontrol.FlowSchema', {
  versions: {
    v1beta1: { deprecated: { since: '1.23', removed: '1.26', replacement: 'v1beta2' } },
    v1beta2: { deprecated: { since: '1.26', removed: '1.29', replacement: 'v1beta3' } },
    v1beta3: { since: 26, deprecated: { since: '1.29', removed: '1.32', replacement: 'v1' } },
    v1: { since: 29 },
  },
  storedAs: 'v1beta2',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersion: 'v1beta1',
  changes: { 27: { storageVersion: 'v1beta3' }, 30: { storageVersion: 'v1' } },
  countsGenerations: true,
  statusKeeps: writersMetadata,
  defaults: fillFlowSchema,
  validation: { status: validateFlowControlStatus },
  table: {
    cells: flowSchemaCells,
    // By precedence, then by name.
    order: (left, right) => Number(left[2]) - Number(right[2]) || (String(left[0]) < String(right[0]) ? -1 : 1),
    columns: ['Name', 'PriorityLevel', 'MatchingPrecedence', 'DistinguisherMethod', 'Age', 'MissingPL'],
  },
})
