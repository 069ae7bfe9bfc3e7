import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { validateDeviceClass } from '../../validation/devices/expressions.ts'

/** A class of devices, with conditions and configuration. */
export const deviceClass = defineResource({
  versions: [
    { type: 'resource/v1alpha3.DeviceClass', since: 31, until: 33, isOffByDefault: true },
    { type: 'resource/v1beta1.DeviceClass', since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
    { type: 'resource/v1beta2.DeviceClass', since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    { type: 'resource/v1.DeviceClass', since: 34 },
  ],
  plural: 'deviceclasses',
  scope: 'Cluster',
  storageVersionHash: '12soGlw2WzE=',
  changes: {
    32: { storageVersionHash: 'OgEE055Fbnc=' },
    34: { storageVersionHash: 'weQRMT6DeYM=' },
    35: { storageVersionHash: 'Yk2PTc1Ybxk=' },
    37: { nameKind: 'longName' },
  },
  deleteAnswer: 'object',
  countsGenerations: true,
  validation: { main: validateDeviceClass },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
