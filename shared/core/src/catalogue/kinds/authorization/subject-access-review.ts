import { defineResource } from '../../../kind/define-resource.ts'

/** Asks whether a user may do something. */
export const subjectAccessReview = defineResource({
  kind: 'SubjectAccessReview',
  versions: [{ type: 'authorization/v1.SubjectAccessReview' }],
  storedAs: 'authorization/v1.SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'accessReview',
})
