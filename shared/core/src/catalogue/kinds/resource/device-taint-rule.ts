import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { deviceTaintRuleCells } from '../../../table/cells/devices.ts'

/** Adds a taint to the devices that match. */
export const deviceTaintRule = defineResource('resource.DeviceTaintRule', {
  versions: {
    v1alpha3: { since: 35, isOffByDefault: true, replacesUnconditionally: true, deprecated: { since: '1.36', removed: '1.39' } },
    v1beta2: { since: 36, isOffByDefault: true, replacesUnconditionally: true },
    v1: { since: 37 },
  },
  scope: 'Cluster',
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersion: 'v1beta2',
  replacesUnconditionally: false,
  countsGenerations: true,
  table: {
    cells: deviceTaintRuleCells,
    columns: [
      'Name',
      { name: 'Key', description: 'Key of the taint.' },
      { name: 'Value', description: 'Value of the taint.' },
      { name: 'Effect', description: 'Effect of the taint.' },
      { name: 'TimeAdded', description: 'Time since the taint was added.' },
      'Age',
    ],
  },
})
