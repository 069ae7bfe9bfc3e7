import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import type { Cell } from '../../../table/cell.ts'
import { flowSchemaCells } from '../../../table/cells/configuration.ts'
import { fillFlowSchema } from '../../defaults/policy.ts'
import { validateFlowControlStatus } from '../../validation/flow-control.ts'

/** Sorts requests into a priority level. */
export const flowSchema = defineResource({
  versions: [
    {
      type: 'flowcontrol/v1beta1.FlowSchema',
      deprecated: { since: '1.23', removed: '1.26', replacement: 'flowcontrol/v1beta2.FlowSchema' },
    },
    {
      type: 'flowcontrol/v1beta2.FlowSchema',
      deprecated: { since: '1.26', removed: '1.29', replacement: 'flowcontrol/v1beta3.FlowSchema' },
    },
    {
      type: 'flowcontrol/v1beta3.FlowSchema',
      since: 26,
      deprecated: { since: '1.29', removed: '1.32', replacement: 'flowcontrol/v1.FlowSchema' },
    },
    { type: 'flowcontrol/v1.FlowSchema', since: 29 },
  ],
  storedAs: 'flowcontrol/v1beta2.FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  storageVersionHash: '9bSnTLYweJ0=',
  changes: { 27: { storageVersionHash: '9NnFrw7ZEmA=' }, 30: { storageVersionHash: 'GJVAJZSZBIw=' } },
  countsGenerations: true,
  statusKeeps: writersMetadata,
  defaults: fillFlowSchema,
  validation: { status: validateFlowControlStatus },
  table: {
    cells: flowSchemaCells,
    order: byPrecedence,
    columns: ['Name', 'PriorityLevel', 'MatchingPrecedence', 'DistinguisherMethod', 'Age', 'MissingPL'],
  },
})

/** The order in which requests are matched: by precedence, then by name. */
function byPrecedence(left: readonly Cell[], right: readonly Cell[]): number {
  return Number(left[2]) - Number(right[2]) || (String(left[0]) < String(right[0]) ? -1 : 1)
}
