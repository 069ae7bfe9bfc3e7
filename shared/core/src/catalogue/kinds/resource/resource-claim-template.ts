import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { flatClaimTemplate } from '../../conversion/devices.ts'
import { fillBetaClaimTemplate, fillClaimTemplate } from '../../defaults/devices.ts'
import { validateBetaClaimTemplate } from '../../validation/devices/beta.ts'
import { validateClaimTemplate } from '../../validation/devices/device-claim.ts'

/** A template from which Pods get claims of their own. */
export const resourceClaimTemplate = defineResource({
  versions: [
    {
      type: 'resource/v1alpha3.ResourceClaimTemplate',
      since: 31,
      until: 33,
      isOffByDefault: true,
      defaults: fillBetaClaimTemplate,
      validation: { main: validateBetaClaimTemplate },
      reshape: flatClaimTemplate,
    },
    {
      type: 'resource/v1beta1.ResourceClaimTemplate',
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      defaults: fillBetaClaimTemplate,
      validation: { main: validateBetaClaimTemplate },
      reshape: flatClaimTemplate,
    },
    { type: 'resource/v1beta2.ResourceClaimTemplate', since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    { type: 'resource/v1.ResourceClaimTemplate', since: 34 },
  ],
  plural: 'resourceclaimtemplates',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'lbw3G0J+kqQ=',
  changes: {
    32: { storageVersionHash: 'F6aZtQPvFlU=' },
    34: { storageVersionHash: '24m0okHrUtk=' },
    35: { storageVersionHash: 'TuzjC49aUfM=' },
  },
  deleteAnswer: 'object',
  defaults: fillClaimTemplate,
  validation: { main: validateClaimTemplate },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
