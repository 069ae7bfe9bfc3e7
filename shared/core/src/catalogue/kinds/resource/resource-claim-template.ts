import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { fillClaimTemplate } from '../../defaults/devices.ts'
import { validateClaimTemplate } from '../../validation/devices/device-claim.ts'

/** A template from which Pods get claims of their own. */
export const resourceClaimTemplate = defineResource({
  kind: 'ResourceClaimTemplate',
  versions: [{ type: 'resource/v1.ResourceClaimTemplate', since: 34 }],
  storedAs: 'resource/v1.ResourceClaimTemplate',
  plural: 'resourceclaimtemplates',
  scope: 'Namespaced',
  storageVersionHash: 'TuzjC49aUfM=',
  deleteAnswer: 'object',
  defaults: fillClaimTemplate,
  validation: { main: validateClaimTemplate },
  table: {
    cells: nameAndAgeCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Age', type: 'string' },
    ],
  },
})
