import { defineResource } from '../../../kind/define-resource.ts'
import { common, same, textOf } from '../../../kind/selectable-fields.ts'
import { countByPlural } from '../../../quota/measures.ts'
import { secretCells } from '../../../table/cells/cluster.ts'
import { fillSecret } from '../../defaults/policy.ts'
import { validateSecret } from '../../validation/secret.ts'

/** Sensitive values for pods and others to read, by key. */
export const secret = defineResource({
  versions: [{ type: 'core/v1.Secret' }],
  plural: 'secrets',
  scope: 'Namespaced',
  rechecksName: true,
  storageVersionHash: 'S6u1pOWzb84=',
  quota: countByPlural,
  selectable: { labels: { ...common, ...same('type') }, fieldsOf: (secret) => ({ type: textOf(secret['type']) }) },
  defaults: fillSecret,
  validation: { main: validateSecret },
  table: { cells: secretCells, columns: ['Name', { name: 'Type', description: 'Purpose of the data.' }, 'Data', 'Age'] },
})
