import { defineResource } from '../../../kind/define-resource.ts'

/** Asks whether the caller may do something. */
export const selfSubjectAccessReview = defineResource({
  versions: [{ type: 'authorization/v1.SelfSubjectAccessReview' }],
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'accessReview',
})
