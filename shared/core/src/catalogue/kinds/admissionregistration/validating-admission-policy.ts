import { defineResource, statusSubresource, writersMetadata } from '../../../kind/define-resource.ts'
import { validatingPolicyCells } from '../../../table/cells/configuration.ts'
import { fillAdmissionPolicy } from '../../defaults/policy.ts'
import { warningsOfStaticName } from '../../warnings/admission-warnings.ts'

/** Rules in CEL about requests. */
export const validatingAdmissionPolicy = defineResource('admissionregistration.ValidatingAdmissionPolicy', {
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
  subresources: [statusSubresource],
  statusKeeps: writersMetadata,
  takesBareFinalizers: true,
  replacesUnconditionally: false,
  countsGenerations: true,
  defaults: fillAdmissionPolicy,
  warnings: warningsOfStaticName,
  table: { cells: validatingPolicyCells, columns: ['Name', { name: 'Validations', type: 'integer' }, 'ParamKind', 'Age'] },
})
