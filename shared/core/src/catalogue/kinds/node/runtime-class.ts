import { defineResource } from '../../../kind/define-resource.ts'
import { runtimeClassCells } from '../../../table/cells/cluster.ts'
import { warningsOfRuntimeClass } from '../../warnings/node-label-warnings.ts'

/** A way of running pods, for instance in a sandbox. A pod chooses one by the name in runtimeClassName. */
export const runtimeClass = defineResource({
  versions: [{ type: 'node/v1.RuntimeClass' }, { type: 'node/v1beta1.RuntimeClass', deprecated: { since: '1.22', removed: '1.25' } }],
  storedAs: 'node/v1.RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  storageVersionHash: 'WQTu1GL3T2Q=',
  replacesUnconditionally: false,
  warnings: warningsOfRuntimeClass,
  table: { cells: runtimeClassCells, columns: ['Name', 'Handler', 'Age'] },
})
