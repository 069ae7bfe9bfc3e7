import { defineResource } from '../../../kind/define-resource.ts'

/** Checks whether a user has a permission in one namespace. */
export const localSubjectAccessReview = defineResource('authorization.LocalSubjectAccessReview', {
  scope: 'Namespaced',
  answeredBy: 'accessReview',
})
