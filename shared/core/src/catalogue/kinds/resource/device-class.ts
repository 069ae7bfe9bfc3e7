import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { rulesWithExpressions } from '../../validation/devices/expressions.ts'
import { deviceStorage, deviceVersions } from './device-versions.ts'

/** A class of devices, with conditions and configuration. */
export const deviceClass = defineResource('resource.DeviceClass', {
  versions: deviceVersions,
  scope: 'Cluster',
  ...deviceStorage,
  changes: { ...deviceStorage.changes, 37: { nameKind: 'longName' } },
  countsGenerations: true,
  validation: { main: rulesWithExpressions('resource/v1.DeviceClass') },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
