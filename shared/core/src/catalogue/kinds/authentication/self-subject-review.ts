import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the user that the server authenticates the caller as. */
export const selfSubjectReview = defineResource({
  versions: [
    {
      type: 'authentication/v1alpha1.SelfSubjectReview',
      since: 26,
      until: 31,
      isOffByDefault: true,
      deprecated: { since: '1.29', removed: '1.32' },
    },
    { type: 'authentication/v1beta1.SelfSubjectReview', since: 27, isOffByDefault: true, deprecated: { since: '1.30', removed: '1.33' } },
    { type: 'authentication/v1.SelfSubjectReview', since: 28 },
  ],
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'selfReview',
})
