import { defineResource } from '../../../kind/define-resource.ts'
import { serviceAccountCells } from '../../../table/cells/cluster.ts'
import { fillTokenRequest } from '../../defaults/policy.ts'

/** An identity for programs that run in pods. */
export const serviceAccount = defineResource({
  kind: 'ServiceAccount',
  versions: [{ type: 'core/v1.ServiceAccount' }],
  storedAs: 'core/v1.ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  scope: 'Namespaced',
  subresources: [{ name: 'token', type: 'authentication/v1.TokenRequest', defaults: fillTokenRequest, verbs: ['create'] }],
  storageVersionHash: 'pbx9ZvyFpBE=',
  deleteAnswer: 'object',
  table: {
    cells: serviceAccountCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'Secrets', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
