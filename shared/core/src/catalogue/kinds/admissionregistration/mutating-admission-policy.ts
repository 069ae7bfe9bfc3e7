import { defineResource } from '../../../kind/define-resource.ts'
import { mutatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Changes in CEL to objects before they are stored. */
export const mutatingAdmissionPolicy = defineResource({
  versions: [
    {
      type: 'admissionregistration/v1alpha1.MutatingAdmissionPolicy',
      since: 32,
      isOffByDefault: true,
      deprecated: { since: '1.35', removed: '1.38' },
    },
    {
      type: 'admissionregistration/v1beta1.MutatingAdmissionPolicy',
      since: 34,
      isOffByDefault: true,
      deprecated: { since: '1.37', removed: '1.40', replacement: 'admissionregistration/v1.MutatingAdmissionPolicy' },
    },
    { type: 'admissionregistration/v1.MutatingAdmissionPolicy', since: 36 },
  ],
  plural: 'mutatingadmissionpolicies',
  changes: { 35: { storageVersionHash: 'LYmCf+UMVdg=' }, 37: { storageVersionHash: 'mHCkTKpUTrE=' } },
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
