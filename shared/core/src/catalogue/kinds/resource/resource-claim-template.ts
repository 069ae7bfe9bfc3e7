import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { flatClaimTemplate } from '../../conversion/devices.ts'
import { fillBetaClaimTemplate, fillClaimTemplate } from '../../defaults/devices.ts'
import { validateBetaClaimTemplate } from '../../validation/devices/beta.ts'
import { validateClaimTemplate } from '../../validation/devices/device-claim.ts'

/** A template from which Pods get claims of their own. */
export const resourceClaimTemplate = defineResource('resource.ResourceClaimTemplate', {
  versions: {
    v1alpha3: {
      since: 31,
      until: 33,
      isOffByDefault: true,
      defaults: fillBetaClaimTemplate,
      validation: { main: validateBetaClaimTemplate },
      reshape: flatClaimTemplate,
    },
    v1beta1: {
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      defaults: fillBetaClaimTemplate,
      validation: { main: validateBetaClaimTemplate },
      reshape: flatClaimTemplate,
    },
    v1beta2: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    v1: { since: 34 },
  },
  scope: 'Namespaced',
  rechecksName: true,
  storageVersion: 'v1alpha3',
  changes: {
    32: { storageVersion: 'v1beta1' },
    34: { storageVersion: 'v1beta2' },
    35: { storageVersion: 'v1' },
  },
  deleteAnswer: 'object',
  defaults: fillClaimTemplate,
  validation: { main: validateClaimTemplate },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
