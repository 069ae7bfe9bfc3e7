import type { User } from '@orch/core/contracts'
import { printJson } from '@orch/core/json'
import { type ApiObject, badRequest, printTime, toInstant } from '@orch/core/meta'
import { requireType } from '@orch/core/schema'
import type { Authentication } from '../authentication/authenticator.ts'
import { type Authenticators, asAuthenticated } from '../authentication/authenticators.ts'
import { type RespondStoredParts, respondStored } from '../representations/respond-stored.ts'
import { remainingMs } from '../request/request.ts'
import { inOrder } from '../write/prepare.ts'
import { type ReviewParts, readReview } from './review-body.ts'
import type { Verb } from './verb.ts'

/** The dependencies of a review of a token. */
export type TokenReviewParts = ReviewParts &
  RespondStoredParts & {
    readonly authentication: Pick<Authenticators, 'audiences' | 'readToken'>
  }

/** Answers with the user of the token in the body. Nothing is stored. The reason of a refusal by one of our own authenticators is not disclosed. */
export const tokenReview: Verb<TokenReviewParts> = async (request, target, parts) => {
  const { resource } = target.served
  const object = await readReview(request, target, parts)
  const review = requireType('authentication/v1.TokenReview', object)
  const { token = '', audiences = [] } = review.spec
  if (token === '') throw badRequest('token is required for TokenReview in authentication')
  const ours = parts.authentication.audiences
  const asked = audiences.length === 0 ? ours : audiences
  const answer = await parts.authentication.readToken(token, {
    audiences: asked,
    nowMs: parts.clock.now(),
    timeoutMs: remainingMs(request, parts),
  })
  const status =
    answer.kind === 'user'
      ? {
          authenticated: true,
          user: toUserInfo(asAuthenticated(answer.user)),
          audiences: answer.audiences ?? asked.filter((one) => ours.includes(one)),
        }
      : // As in kube-apiserver, the sent status of a user stays, with the error.
        { ...review.status, user: review.status?.user ?? {}, authenticated: undefined, error: errorOf(answer) }
  const reviewed = inOrder(resource, { ...object, status })
  await respondStored(request, { code: 201, served: target.served, content: { value: Buffer.from(printJson(reviewed)) } }, parts)
}

/** The reason is returned only from an external authenticator. */
function errorOf(answer: Authentication): string {
  const detail = answer.kind === 'refused' ? answer.detail : undefined
  return detail === undefined ? 'invalid bearer token' : `[invalid bearer token, ${detail}]`
}

/** Answers with the user after authentication and impersonation, as a new object. */
export const selfReview: Verb<TokenReviewParts> = async (request, target, parts) => {
  const { resource } = target.served
  const { kind, apiVersion } = await readReview(request, target, parts)
  const metadata = { creationTimestamp: printTime(toInstant(parts.clock.now())) }
  const reviewed: ApiObject = inOrder(resource, { kind, apiVersion, metadata, status: { userInfo: toUserInfo(request.user) } })
  await respondStored(request, { code: 201, served: target.served, content: { value: Buffer.from(printJson(reviewed)) } }, parts)
}

/** A user in the form of reviews, without empty members. */
function toUserInfo({ name, uid, groups, extra }: User): object {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}
