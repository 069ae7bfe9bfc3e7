import { defineResource } from '../../../kind/define-resource.ts'
import { nameAndAgeCells } from '../../../table/cells/devices.ts'
import { validateDeviceClass } from '../../validation/devices/expressions.ts'

/** A class of devices, with conditions and configuration. */
export const deviceClass = defineResource('resource.DeviceClass', {
  versions: {
    v1alpha3: { since: 31, until: 33, isOffByDefault: true },
    v1beta1: { since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
    v1beta2: { since: 33, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    v1: { since: 34 },
  },
  scope: 'Cluster',
  storageVersion: 'v1alpha3',
  changes: {
    32: { storageVersion: 'v1beta1' },
    34: { storageVersion: 'v1beta2' },
    35: { storageVersion: 'v1' },
    37: { nameKind: 'longName' },
  },
  deleteAnswer: 'object',
  countsGenerations: true,
  validation: { main: validateDeviceClass },
  table: { cells: nameAndAgeCells, columns: ['Name', 'Age'] },
})
