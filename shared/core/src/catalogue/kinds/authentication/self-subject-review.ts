import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the user that the server authenticates the caller as. */
export const selfSubjectReview = defineResource({
  versions: [
    { type: 'authentication/v1beta1.SelfSubjectReview', since: 27, until: 32, isOffByDefault: true },
    { type: 'authentication/v1.SelfSubjectReview', since: 28 },
  ],
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'selfReview',
})
