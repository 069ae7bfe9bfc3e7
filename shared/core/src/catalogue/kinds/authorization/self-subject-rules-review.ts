import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the caller's rights in a namespace. */
export const selfSubjectRulesReview = defineResource('authorization.SelfSubjectRulesReview', {
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'rulesReview',
})
