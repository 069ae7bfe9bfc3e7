import { defineResource } from '../../../kind/define-resource.ts'
import { runtimeClassCells } from '../../../table/cells/cluster.ts'
import { warningsOfRuntimeClass } from '../../warnings/node-label-warnings.ts'

/** A way of running pods, for instance in a sandbox. A pod chooses one by the name in runtimeClassName. */
export const runtimeClass = defineResource('node.RuntimeClass', {
  versions: {
    v1: {},
    v1beta1: { deprecated: { since: '1.22', removed: '1.25' } },
  },
  storedAs: 'v1',
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  createsOnUpdate: true,
  replacesUnconditionally: false,
  warnings: warningsOfRuntimeClass,
  table: { cells: runtimeClassCells, columns: ['Name', 'Handler', 'Age'] },
})
