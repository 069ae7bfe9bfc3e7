import { inVersion } from '../description/in-version.ts'
import { authenticationV1 } from './authentication-v1.ts'

const { SelfSubjectReview, SelfSubjectReviewStatus, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo } = authenticationV1

/** The types of authentication/v1beta1, which are those of v1. The user in a SelfSubjectReview has the type of v1. */
export const authenticationV1beta1 = {
  ...inVersion(
    { SelfSubjectReview, SelfSubjectReviewStatus, TokenReview, TokenReviewSpec, TokenReviewStatus, UserInfo },
    { from: 'authentication/v1', to: 'authentication/v1beta1' },
  ),
  SelfSubjectReviewStatus,
}

/** The types of authentication/v1alpha1, which are those of v1. */
export const authenticationV1alpha1 = inVersion(
  { SelfSubjectReview, SelfSubjectReviewStatus },
  { from: 'authentication/v1', to: 'authentication/v1alpha1' },
)
