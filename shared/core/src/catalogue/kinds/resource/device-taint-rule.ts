import { defineResource, statusSubresource } from '../../../kind/define-resource.ts'
import { deviceTaintRuleCells } from '../../../table/cells/devices.ts'

/** Adds a taint to the devices that match. */
export const deviceTaintRule = defineResource({
  kind: 'DeviceTaintRule',
  versions: [
    { type: 'resource/v1beta2.DeviceTaintRule', since: 36, isOffByDefault: true },
    { type: 'resource/v1.DeviceTaintRule', since: 37 },
  ],
  storedAs: 'resource/v1.DeviceTaintRule',
  plural: 'devicetaintrules',
  scope: 'Cluster',
  subresources: [statusSubresource],
  storageVersionHash: 'i+85+TcIKpA=',
  replacesUnconditionally: false,
  countsGenerations: true,
  table: {
    cells: deviceTaintRuleCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Key', type: 'string', description: 'Key of the taint.' },
      { name: 'Value', type: 'string', description: 'Value of the taint.' },
      { name: 'Effect', type: 'string', description: 'Effect of the taint.' },
      { name: 'TimeAdded', type: 'string', description: 'Time since the taint was added.' },
      { name: 'Age', type: 'string' },
    ],
  },
})
