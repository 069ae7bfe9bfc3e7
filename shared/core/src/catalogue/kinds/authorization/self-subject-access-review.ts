import { defineResource } from '../../../kind/define-resource.ts'

/** Asks whether the caller may do something. */
export const selfSubjectAccessReview = defineResource('authorization.SelfSubjectAccessReview', {
  scope: 'Cluster',
  answeredBy: 'accessReview',
})
