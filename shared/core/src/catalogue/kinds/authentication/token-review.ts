import { defineResource } from '../../../kind/define-resource.ts'

/** Checks a token, and finds its user. */
export const tokenReview = defineResource({
  versions: [{ type: 'authentication/v1.TokenReview' }],
  plural: 'tokenreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'tokenReview',
})
