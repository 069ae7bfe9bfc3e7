import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { resourceQuotaCells } from '../../../table/cells/cluster.ts'
import { fillResourceQuota } from '../../defaults/policy.ts'
import { validateResourceQuotaSpec, validateResourceQuotaStatus } from '../../validation/resource-quota.ts'

/** Limits the total use of a namespace's objects. */
export const resourceQuota = defineResource('core.ResourceQuota', {
  shortNames: ['quota'],
  scope: 'Namespaced',
  subresources: [statusSubresource],
  quota: countByPlural,
  deleteAnswer: 'object',
  defaults: fillResourceQuota,
  validation: { main: validateResourceQuotaSpec, status: validateResourceQuotaStatus },
  table: { cells: resourceQuotaCells, columns: ['Name', { name: 'Age', until: 32 }, 'Request', 'Limit', { name: 'Age', since: 33 }] },
})
