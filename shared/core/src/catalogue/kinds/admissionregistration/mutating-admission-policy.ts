import { defineResource } from '../../../kind/define-resource.ts'
import { mutatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { mutatingKind } from './admission-kinds.ts'

/** Changes in CEL to objects before they are stored. */
export const mutatingAdmissionPolicy = defineResource('admissionregistration.MutatingAdmissionPolicy', {
  ...mutatingKind,
  defaults: fillAdmissionPolicy,
  table: { cells: mutatingPolicyCells, columns: ['Name', { name: 'Mutations', type: 'integer' }, 'ParamKind', 'Age'] },
})
