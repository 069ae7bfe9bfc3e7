import { defineResource } from '../../../kind/define-resource.ts'

/** Checks whether a user has a permission. */
export const subjectAccessReview = defineResource({
  versions: [{ type: 'authorization/v1.SubjectAccessReview' }],
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'accessReview',
})
