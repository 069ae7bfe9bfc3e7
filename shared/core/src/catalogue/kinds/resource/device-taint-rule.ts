import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { deviceTaintRuleCells } from '../../../table/cells/devices.ts'

/** Adds a taint to the devices that match. */
export const deviceTaintRule = defineResource({
  versions: [
    { type: 'resource/v1alpha3.DeviceTaintRule', since: 35, isOffByDefault: true, deprecated: { since: '1.36', removed: '1.39' } },
    { type: 'resource/v1beta2.DeviceTaintRule', since: 36, isOffByDefault: true },
    { type: 'resource/v1.DeviceTaintRule', since: 37 },
  ],
  plural: 'devicetaintrules',
  scope: 'Cluster',
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  storageVersionHash: 'i+85+TcIKpA=',
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
