import { defineResource } from '../../../kind/define-resource.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { configMapCells } from '../../../table/cells/cluster.ts'
import { validateConfigMap } from '../../validation/config-map.ts'

/** Settings for pods and others to read, by key. */
export const configMap = defineResource({
  versions: [{ type: 'core/v1.ConfigMap' }],
  plural: 'configmaps',
  shortNames: ['cm'],
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'qFsyl6wFWjQ=',
  quota: countByPlural,
  validation: { main: validateConfigMap },
  table: { cells: configMapCells, columns: ['Name', 'Data', 'Age'] },
})
