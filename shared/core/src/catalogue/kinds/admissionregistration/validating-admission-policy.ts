import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { validatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { validatingKind } from './admission-kinds.ts'

/** Rules in CEL about requests. */
export const validatingAdmissionPolicy = defineResource('admissionregistration.ValidatingAdmissionPolicy', {
  ...validatingKind,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  defaults: fillAdmissionPolicy,
  table: { cells: validatingPolicyCells, columns: ['Name', { name: 'Validations', type: 'integer' }, 'ParamKind', 'Age'] },
})
