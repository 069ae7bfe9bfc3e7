import { defineResource } from '../../../kind/define-resource.ts'
import { memberOf, same, textOf } from '../../../kind/selectable-fields.ts'
import { resourceSliceCells } from '../../../table/cells/devices.ts'
import { basicSlice, plainSlice } from '../../conversion/devices.ts'
import { validateBetaSlice, validatePlainSlice } from '../../validation/devices/beta.ts'
import { warningsOfSlice } from '../../warnings/rules.ts'

/** Devices of one pool of a driver. */
export const resourceSlice = defineResource('resource.ResourceSlice', {
  versions: {
    v1alpha3: { since: 31, until: 33, isOffByDefault: true, validation: { main: validatePlainSlice }, reshape: plainSlice },
    v1beta1: {
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      validation: { main: validateBetaSlice },
      reshape: basicSlice,
    },
    v1beta2: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    v1: { since: 34 },
  },
  scope: 'Cluster',
  storageVersion: 'v1alpha3',
  changes: {
    32: { storageVersion: 'v1beta1' },
    34: { storageVersion: 'v1beta2' },
    35: { storageVersion: 'v1' },
  },
  deleteAnswer: 'object',
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
