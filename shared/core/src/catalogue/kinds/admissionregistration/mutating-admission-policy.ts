import { defineResource } from '../../../kind/define-resource.ts'
import { mutatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Changes in CEL to objects before they are stored. */
export const mutatingAdmissionPolicy = defineResource('admissionregistration.MutatingAdmissionPolicy', {
  versions: {
    v1alpha1: { since: 32, isOffByDefault: true, deprecated: { since: '1.35', removed: '1.38' } },
    v1beta1: { since: 34, isOffByDefault: true, deprecated: { since: '1.37', removed: '1.40', replacement: 'v1' } },
    v1: { since: 36 },
  },
  storageVersion: 'v1alpha1',
  changes: { 35: { storageVersion: 'v1beta1' }, 37: { storageVersion: 'v1' } },
  categories: ['api-extensions'],
  scope: 'Cluster',
  rechecksName: true,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillAdmissionPolicy,
  warnings: warningsOfStaticName,
  table: { cells: mutatingPolicyCells, columns: ['Name', { name: 'Mutations', type: 'integer' }, 'ParamKind', 'Age'] },
})
