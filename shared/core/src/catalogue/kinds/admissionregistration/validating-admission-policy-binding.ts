import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { validateValidatingBinding } from '../../validation/admission-policy.ts'

/** Puts a ValidatingAdmissionPolicy into effect. */
export const validatingAdmissionPolicyBinding = defineResource({
  kind: 'ValidatingAdmissionPolicyBinding',
  versions: [{ type: 'admissionregistration/v1.ValidatingAdmissionPolicyBinding' }],
  storedAs: 'admissionregistration/v1.ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  changes: { 30: { storageVersionHash: 'v9715VZqakg=' } },
  categories: ['api-extensions'],
  scope: 'Cluster',
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillPolicyBinding,
  validation: { main: validateValidatingBinding },
  table: {
    cells: policyBindingCells,
    columns: [
      { name: 'Name', type: 'string', format: 'name' },
      { name: 'PolicyName', type: 'string' },
      { name: 'ParamRef', type: 'string' },
      { name: 'Age', type: 'string' },
    ],
  },
})
