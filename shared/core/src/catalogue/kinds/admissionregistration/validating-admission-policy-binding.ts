import { defineResource } from '../../../kind/define-resource.ts'
import { policyBindingCells } from '../../../table/cells/configuration.ts'
import { fillPolicyBinding } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Puts a ValidatingAdmissionPolicy into effect. */
export const validatingAdmissionPolicyBinding = defineResource('admissionregistration.ValidatingAdmissionPolicyBinding', {
  versions: {
    v1alpha1: { since: 26, isOffByDefault: true, deprecated: { since: '1.29', removed: '1.32' } },
    v1beta1: { since: 28, isOffByDefault: true, deprecated: { since: '1.31', removed: '1.34' } },
    v1: { since: 30 },
  },
  storageVersion: 'v1alpha1',
  changes: { 29: { storageVersion: 'v1beta1' }, 31: { storageVersion: 'v1' } },
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
