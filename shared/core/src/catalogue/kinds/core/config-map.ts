import { defineResource } from '../../../kind/define-resource.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { configMapCells } from '../../../table/cells/cluster.ts'
import { validateConfigMap } from '../../validation/config-map.ts'

/** Settings for pods and others to read, by key. */
export const configMap = defineResource('core.ConfigMap', {
  shortNames: ['cm'],
  scope: 'Namespaced',
  rechecksName: true,
  quota: countByPlural,
  validation: { main: validateConfigMap },
  table: { cells: configMapCells, columns: ['Name', 'Data', 'Age'] },
})
