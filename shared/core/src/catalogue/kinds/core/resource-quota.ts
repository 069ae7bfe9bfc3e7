import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { resourceQuotaCells } from '../../../table/cells/cluster.ts'
import { fillResourceQuota } from '../../defaults/policy.ts'
import { validateResourceQuotaSpec, validateResourceQuotaStatus } from '../../validation/resource-quota.ts'

/** Limits the total use of a namespace's objects. */
export const resourceQuota = defineResource({
  kind: 'ResourceQuota',
  versions: [{ type: 'core/v1.ResourceQuota' }],
  storedAs: 'core/v1.ResourceQuota',
  plural: 'resourcequotas',
  shortNames: ['quota'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  storageVersionHash: '8uhSgffRX6w=',
  quota: countByPlural,
  deleteAnswer: 'object',
  defaults: fillResourceQuota,
  validation: { main: validateResourceQuotaSpec, status: validateResourceQuotaStatus },
  table: {
    cells: resourceQuotaCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Age', type: 'string', until: 32 },
      { name: 'Request', type: 'string' },
      { name: 'Limit', type: 'string' },
      { name: 'Age', type: 'string', since: 33 },
    ],
  },
})
