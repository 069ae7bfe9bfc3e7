import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { mutatingKind } from './admission-kinds.ts'

/** Puts a MutatingAdmissionPolicy into effect. */
export const mutatingAdmissionPolicyBinding = defineResource('admissionregistration.MutatingAdmissionPolicyBinding', {
  ...mutatingKind,
  defaults: fillPolicyBinding,
  table: { cells: policyBindingCells, columns: ['Name', 'PolicyName', 'ParamRef', 'Age'] },
})
