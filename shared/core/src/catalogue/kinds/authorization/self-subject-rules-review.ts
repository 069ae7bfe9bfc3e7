import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the caller's rights in a namespace. */
export const selfSubjectRulesReview = defineResource('authorization.SelfSubjectRulesReview', {
  scope: 'Cluster',
  answeredBy: 'rulesReview',
})
