import { defineResource } from '../../../kind/define-resource.ts'

/** Asks what the one who asks may do in a namespace. */
export const selfSubjectRulesReview = defineResource({
  kind: 'SelfSubjectRulesReview',
  versions: [{ type: 'authorization/v1.SelfSubjectRulesReview' }],
  storedAs: 'authorization/v1.SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'rulesReview',
})
