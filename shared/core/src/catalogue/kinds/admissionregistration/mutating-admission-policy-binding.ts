import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Puts a MutatingAdmissionPolicy into effect. */
export const mutatingAdmissionPolicyBinding = defineResource({
  versions: [
    {
      type: 'admissionregistration/v1alpha1.MutatingAdmissionPolicyBinding',
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
    },
    {
      type: 'admissionregistration/v1beta1.MutatingAdmissionPolicyBinding',
      since: 34,
      isOffByDefault: true,
      deprecated: { since: '1.37', removed: '1.40', replacement: 'admissionregistration/v1.MutatingAdmissionPolicyBinding' },
    },
    { type: 'admissionregistration/v1.MutatingAdmissionPolicyBinding', since: 36 },
  ],
  plural: 'mutatingadmissionpolicybindings',
  changes: { 35: { storageVersionHash: '90V5FRZZ3Zg=' }, 37: { storageVersionHash: 'ZKgZT1uTmZ0=' } },
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
