import { defineResource } from '../../../kind/define-resource.ts'

/** Asks whether a token is good, and whose it is. */
export const tokenReview = defineResource({
  kind: 'TokenReview',
  versions: [{ type: 'authentication/v1.TokenReview' }],
  storedAs: 'authentication/v1.TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
  verbs: ['create'],
  backing: 'virtual',
  answeredBy: 'tokenReview',
})
