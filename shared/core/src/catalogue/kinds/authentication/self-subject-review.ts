import { defineResource } from '../../../kind/define-resource.ts'

/** Asks who the one who asks is taken for. */
export const selfSubjectReview = defineResource({
  kind: 'SelfSubjectReview',
  versions: [{ type: 'authentication/v1.SelfSubjectReview' }, { type: 'authentication/v1beta1.SelfSubjectReview', until: 32 }],
  storedAs: 'authentication/v1.SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'selfReview',
})
