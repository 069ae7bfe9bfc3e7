import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Puts a ValidatingAdmissionPolicy into effect. */
export const validatingAdmissionPolicyBinding = defineResource({
  versions: [
    {
      type: 'admissionregistration/v1alpha1.ValidatingAdmissionPolicyBinding',
      since: 26,
      isOffByDefault: true,
      deprecated: { since: '1.29', removed: '1.32' },
    },
    {
      type: 'admissionregistration/v1beta1.ValidatingAdmissionPolicyBinding',
      since: 28,
      isOffByDefault: true,
      deprecated: { since: '1.31', removed: '1.34' },
    },
    { type: 'admissionregistration/v1.ValidatingAdmissionPolicyBinding', since: 30 },
  ],
  plural: 'validatingadmissionpolicybindings',
  changes: { 29: { storageVersionHash: 'XYju31JKYek=' }, 31: { storageVersionHash: 'v9715VZqakg=' } },
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillPolicyBinding,
  warnings: warningsOfStaticName,
  table: { cells: policyBindingCells, columns: ['Name', 'PolicyName', 'ParamRef', 'Age'] },
})
