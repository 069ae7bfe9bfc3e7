import { defineResource } from '../../../kind/define-resource.ts'

/** Asks for the caller's rights in a namespace. */
export const selfSubjectRulesReview = defineResource({
  versions: [{ type: 'authorization/v1.SelfSubjectRulesReview' }],
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'rulesReview',
})
