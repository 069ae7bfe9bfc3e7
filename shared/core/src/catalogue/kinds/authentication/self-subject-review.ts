import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the user that the server authenticates the caller as. */
export const selfSubjectReview = defineResource('authentication.SelfSubjectReview', {
  versions: {
    v1alpha1: { since: 26, until: 31, isOffByDefault: true, deprecated: { since: '1.29', removed: '1.32' } },
    v1beta1: { since: 27, isOffByDefault: true, deprecated: { since: '1.30', removed: '1.33' } },
    v1: { since: 28 },
  },
  scope: 'Cluster',
  answeredBy: 'selfReview',
})
