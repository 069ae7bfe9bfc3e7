import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { validateDeviceClass } from '../../validation/devices/expressions.ts'

/** A class of devices, with conditions and configuration. */
export const deviceClass = defineResource({
  kind: 'DeviceClass',
  versions: [{ type: 'resource/v1.DeviceClass', since: 34 }],
  storedAs: 'resource/v1.DeviceClass',
  plural: 'deviceclasses',
  scope: 'Cluster',
  storageVersionHash: 'Yk2PTc1Ybxk=',
  deleteAnswer: 'object',
  countsGenerations: true,
  validation: { main: validateDeviceClass },
  table: {
    cells: nameAndAgeCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Age', type: 'string' },
    ],
  },
})
