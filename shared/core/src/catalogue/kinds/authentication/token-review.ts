import { defineResource } from '../../../kind/define-resource.ts'

/** Checks a token, and finds its user. */
export const tokenReview = defineResource('authentication.TokenReview', {
  scope: 'Cluster',
  answeredBy: 'tokenReview',
})
