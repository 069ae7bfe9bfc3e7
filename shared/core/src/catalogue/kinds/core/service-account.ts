import { defineResource } from '../../../kind/define-resource.ts'
import { serviceAccountCells } from '../../../table/cells/cluster.ts'
import { fillTokenRequest } from '../../defaults/policy.ts'
import { warningsOfServiceAccount } from '../../warnings/rules.ts'

/** An identity for programs that run in pods. */
export const serviceAccount = defineResource('core.ServiceAccount', {
  shortNames: ['sa'],
  scope: 'Namespaced',
  rechecksName: true,
  subresources: [{ name: 'token', type: 'authentication/v1.TokenRequest', defaults: fillTokenRequest, verbs: ['create'] }],
  deleteAnswer: 'object',
  warnings: warningsOfServiceAccount,
  table: { cells: serviceAccountCells, columns: ['Name', { name: 'Secrets', until: 34 }, 'Age'] },
})
