import { defineResource } from '../../../kind/define-resource.ts'
import { memberOf, same, textOf } from '../../../kind/selectable-fields.ts'
import { resourceSliceCells } from '../../../table/cells/devices.ts'
import { basicSlice, plainSlice } from '../../conversion/devices.ts'
import { validateBetaSlice, validatePlainSlice } from '../../validation/devices/beta.ts'
import { warningsOfSlice } from '../../warnings/rules.ts'
import { deviceStorage, deviceVersions } from './device-versions.ts'

/** Devices of one pool of a driver. */
export const resourceSlice = defineResource('resource.ResourceSlice', {
  versions: {
    ...deviceVersions,
    v1alpha3: { ...deviceVersions.v1alpha3, validation: { main: validatePlainSlice }, reshape: plainSlice },
    v1beta1: { ...deviceVersions.v1beta1, validation: { main: validateBetaSlice }, reshape: basicSlice },
  },
  scope: 'Cluster',
  ...deviceStorage,
  countsGenerations: true,
  isNamedBySelectors: 'withVersion',
  selectable: {
    labels: same('metadata.name', 'spec.nodeName', 'spec.driver', 'spec.pool.name'),
    fieldsOf: ({ spec }) => ({
      'spec.nodeName': textOf(memberOf(spec, 'nodeName')),
      'spec.driver': textOf(memberOf(spec, 'driver')),
      'spec.pool.name': textOf(memberOf(memberOf(spec, 'pool'), 'name')),
    }),
  },
  warnings: warningsOfSlice,
  table: { cells: resourceSliceCells, columns: ['Name', 'Node', 'Driver', { name: 'Pool', description: 'Name of the pool.' }, 'Age'] },
})
