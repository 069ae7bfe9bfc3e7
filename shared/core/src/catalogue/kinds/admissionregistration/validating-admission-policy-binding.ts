import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { validatingKind } from './admission-kinds.ts'

/** Puts a ValidatingAdmissionPolicy into effect. */
export const validatingAdmissionPolicyBinding = defineResource('admissionregistration.ValidatingAdmissionPolicyBinding', {
  ...validatingKind,
  defaults: fillPolicyBinding,
  table: { cells: policyBindingCells, columns: ['Name', 'PolicyName', 'ParamRef', 'Age'] },
})
