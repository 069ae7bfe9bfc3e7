import { defineResource } from '../../../kind/define-resource.ts'
import { memberOf, same, textOf } from '../../../kind/selectable-fields.ts'
import { resourceSliceCells } from '../../../table/cells/devices.ts'
import { basicSlice, plainSlice } from '../../conversion/devices.ts'
import { validateBetaSlice, validatePlainSlice } from '../../validation/devices/beta.ts'
import { warningsOfSlice } from '../../warnings/rules.ts'

/** Devices of one pool of a driver. */
export const resourceSlice = defineResource({
  versions: [
    {
      type: 'resource/v1alpha3.ResourceSlice',
      since: 31,
      until: 33,
      isOffByDefault: true,
      validation: { main: validatePlainSlice },
      reshape: plainSlice,
    },
    {
      type: 'resource/v1beta1.ResourceSlice',
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
      validation: { main: validateBetaSlice },
      reshape: basicSlice,
    },
    { type: 'resource/v1beta2.ResourceSlice', since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    { type: 'resource/v1.ResourceSlice', since: 34 },
  ],
  plural: 'resourceslices',
  scope: 'Cluster',
  storageVersionHash: '8Uqm6frD4H0=',
  changes: {
    32: { storageVersionHash: '7r9IQQZblMY=' },
    34: { storageVersionHash: 'z6Bc9vgk6yE=' },
    35: { storageVersionHash: 'KsC072WgaEY=' },
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
