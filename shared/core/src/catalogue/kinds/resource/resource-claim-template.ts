import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { flatClaimTemplate } from '../../conversion/devices.ts'
import { fillBetaClaimTemplate, fillClaimTemplate } from '../../defaults/devices.ts'
import { validateBetaClaimTemplate } from '../../validation/devices/beta.ts'
import { rulesWithExpressions } from '../../validation/devices/expressions.ts'
import { deviceStorage, deviceVersions } from './device-versions.ts'

/** The first versions, whose requests are flat. */
const flat = { defaults: fillBetaClaimTemplate, validation: { main: validateBetaClaimTemplate }, reshape: flatClaimTemplate }

/** A template from which Pods get claims of their own. */
export const resourceClaimTemplate = defineResource('resource.ResourceClaimTemplate', {
  versions: {
    ...deviceVersions,
    v1alpha3: { ...deviceVersions.v1alpha3, ...flat },
    v1beta1: { ...deviceVersions.v1beta1, ...flat },
  },
  scope: 'Namespaced',
  rechecksName: true,
  ...deviceStorage,
  defaults: fillClaimTemplate,
  validation: { main: rulesWithExpressions('resource/v1.ResourceClaimTemplate') },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
