import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { validatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Rules in CEL about requests. */
export const validatingAdmissionPolicy = defineResource({
  versions: [
    {
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicy',
      since: 26,
      isOffByDefault: true,
      deprecated: { since: '1.29', removed: '1.32' },
    },
    {
      type: 'admissionregistration/v1beta1.ValidatingAdmissionPolicy',
      since: 28,
      isOffByDefault: true,
      deprecated: { since: '1.31', removed: '1.34' },
    },
    { type: 'admissionregistration/v1.ValidatingAdmissionPolicy', since: 30 },
  ],
  plural: 'validatingadmissionpolicies',
  changes: { 29: { storageVersionHash: 'P/h9c6yIbaY=' }, 31: { storageVersionHash: '6OxvlMmQ6is=' } },
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillAdmissionPolicy,
  warnings: warningsOfStaticName,
  table: { cells: validatingPolicyCells, columns: ['Name', { name: 'Validations', type: 'integer' }, 'ParamKind', 'Age'] },
})
