import { defineResource } from '../../../kind/define-resource.ts'
import { common, same, textOf } from '../../../kind/selectable-fields.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { secretCells } from '../../../table/cells/cluster.ts'
import { fillSecret } from '../../defaults/policy.ts'
import { validateSecret } from '../../validation/secret.ts'

/** Sensitive values for pods and others to read, by key. */
export const secret = defineResource('core.Secret', {
  scope: 'Namespaced',
  rechecksName: true,
  quota: countByPlural,
  selectable: { labels: { ...common, ...same('type') }, fieldsOf: (secret) => ({ type: textOf(secret['type']) }) },
  defaults: fillSecret,
  validation: { main: validateSecret },
  table: { cells: secretCells, columns: ['Name', { name: 'Type', description: 'Purpose of the data.' }, 'Data', 'Age'] },
})
