import { atomicSince30, field, pointer, required } from '../description/fields.ts'
import { defineTypes, object, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { boolean, int64, list, map, ref, time, wrapped } from '../description/values.ts'
import { metadata, requiredUntil } from './common.ts'

/** The types of authentication/v1. */
export const authenticationV1 = defineTypes({
  BoundObjectReference: struct('The object that a token is bound to. The token becomes invalid when the object is deleted.', () => ({
    kind: field(string(), 1, 'Kind of the object: Pod or Secret.'),
    apiVersion: field(string(), 2, 'Group version of the object.'),
    name: field(string(), 3, 'Name of the object.'),
    uid: field(string(), 4, 'Identity of the object.'),
  })),
  TokenRequest: object('Asks for a token of a service account. Made through the token subresource of the account.', () => ({
    metadata,
    spec: field(ref('authentication/v1.TokenRequestSpec'), 2, {
      ...requiredUntil(35),
      doc: 'Audiences, lifetime and bound object of the requested token.',
    }),
    status: field(ref('authentication/v1.TokenRequestStatus'), 3, 'The token.'),
  })),
  TokenRequestSpec: struct('Audiences, lifetime and bound object of the requested token.', () => ({
    audiences: required(list(string()), 1, {
      changes: { 30: { listType: 'atomic' }, 36: { required: false, keepEmpty: true } },
      doc: 'Audiences of the token. A recipient must refuse tokens for other audiences.',
    }),
    expirationSeconds: pointer(int64(), 4, {
      keepEmpty: true,
      doc: 'Requested lifetime in seconds. The actual lifetime may differ. Default: 3600.',
    }),
    boundObjectRef: pointer(ref('authentication/v1.BoundObjectReference'), 3, {
      keepEmpty: true,
      doc: 'Object that the token is bound to. Unset means none.',
    }),
    attestations: field(map(list(string())), 5, { since: 37, doc: 'Statements about the requester that admission may demand, by name.' }),
  })),
  TokenRequestStatus: struct('A token.', () => ({
    token: field(string(), 1, { ...requiredUntil(35), doc: 'The token.' }),
    expirationTimestamp: field(time(), 2, { ...requiredUntil(35), doc: 'Time of expiration of the token.' }),
  })),
  TokenReview: object('Checks a token, and finds its user.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata; not used.'),
    spec: required(ref('authentication/v1.TokenReviewSpec'), 2, 'The token.'),
    status: field(ref('authentication/v1.TokenReviewStatus'), 3, 'Result, set by the server.'),
  })),
  TokenReviewSpec: struct('The token to check.', () => ({
    token: field(string(), 1, { changes: { 36: { listedAsRequired: true } }, doc: 'The token.' }),
    audiences: atomicSince30(list(string()), 2, {
      doc: 'Accepted audiences; the token must have at least one of them. Default: the server itself.',
    }),
  })),
  TokenReviewStatus: struct('Result of the check of a token.', () => ({
    authenticated: field(boolean(), 1, 'True if the token is valid.'),
    user: field(ref('authentication/v1.UserInfo'), 2, 'The user that the token belongs to.'),
    audiences: atomicSince30(list(string()), 4, 'Audiences of the token among the accepted ones.'),
    error: field(string(), 3, 'Reason why the token could not be checked.'),
  })),
  SelfSubjectReview: object('Asks for the user that the server authenticates the caller as.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), 1, 'Standard metadata; not used.'),
    status: field(ref('authentication/v1.SelfSubjectReviewStatus'), 2, 'Answer of the server.'),
  })),
  SelfSubjectReviewStatus: struct('The user that the server authenticates the caller as.', () => ({
    userInfo: field(ref('authentication/v1.UserInfo'), 1, 'The user, after impersonation.'),
  })),
  UserInfo: struct('A user.', () => ({
    username: field(string(), 1, 'Name of the user.'),
    uid: field(string(), 2, 'Identity of the user, which differs for another user of the same name.'),
    groups: atomicSince30(list(string()), 3, 'Groups of the user.'),
    extra: field(map(wrapped(string())), 4, 'Further attributes of the user.'),
  })),
})
