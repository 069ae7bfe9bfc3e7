import { defineResource } from '../../../kind/define-resource.ts'

/** Checks whether a user has a permission. */
export const subjectAccessReview = defineResource('authorization.SubjectAccessReview', {
  scope: 'Cluster',
  answeredBy: 'accessReview',
})
