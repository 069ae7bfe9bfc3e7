import {
  atomicSince30,
  boolean,
  defineTypes,
  field,
  int64,
  list,
  map,
  object,
  pointer,
  ref,
  required,
  string,
  struct,
  time,
  wrapped,
} from '../description/define.ts'
import { metadata, requiredUntil } from './common.ts'

/** The types of authentication/v1. */
export const authenticationV1 = defineTypes({
  BoundObjectReference: struct('The object that a token is bound to. The token becomes invalid when the object is deleted.', () => ({
    kind: field(string(), { tag: 1, doc: 'Kind of the object: Pod or Secret.' }),
    apiVersion: field(string(), { tag: 2, doc: 'Group version of the object.' }),
    name: field(string(), { tag: 3, doc: 'Name of the object.' }),
    uid: field(string(), { tag: 4, protoName: 'uID', doc: 'Identity of the object.' }),
  })),
  TokenRequest: object('Asks for a token of a service account. Made through the token subresource of the account.', () => ({
    metadata,
    spec: field(ref('authentication/v1.TokenRequestSpec'), {
      tag: 2,
      ...requiredUntil(35),
      doc: 'Audiences, lifetime and bound object of the requested token.',
    }),
    status: field(ref('authentication/v1.TokenRequestStatus'), { tag: 3, doc: 'The token.' }),
  })),
  TokenRequestSpec: struct('Audiences, lifetime and bound object of the requested token.', () => ({
    audiences: required(list(string()), {
      tag: 1,
      changes: { 30: { listType: 'atomic' }, 36: { required: false, keepEmpty: true } },
      doc: 'Audiences of the token. A recipient must refuse tokens for other audiences.',
    }),
    expirationSeconds: pointer(int64(), {
      tag: 4,
      keepEmpty: true,
      doc: 'Requested lifetime in seconds. The actual lifetime may differ. Default: 3600.',
    }),
    boundObjectRef: pointer(ref('authentication/v1.BoundObjectReference'), {
      tag: 3,
      keepEmpty: true,
      doc: 'Object that the token is bound to. Unset means none.',
    }),
    attestations: field(map(list(string())), {
      tag: 5,
      since: 37,
      doc: 'Statements about the requester that admission may demand, by name.',
    }),
  })),
  TokenRequestStatus: struct('A token.', () => ({
    token: field(string(), { tag: 1, ...requiredUntil(35), doc: 'The token.' }),
    expirationTimestamp: field(time(), { tag: 2, ...requiredUntil(35), doc: 'Time of expiration of the token.' }),
  })),
  TokenReview: object('Checks a token, and finds its user.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
    spec: required(ref('authentication/v1.TokenReviewSpec'), { tag: 2, doc: 'The token.' }),
    status: field(ref('authentication/v1.TokenReviewStatus'), { tag: 3, doc: 'Result, set by the server.' }),
  })),
  TokenReviewSpec: struct('The token to check.', () => ({
    token: field(string(), { tag: 1, changes: { 36: { listedAsRequired: true } }, doc: 'The token.' }),
    audiences: atomicSince30(list(string()), {
      tag: 2,
      doc: 'Accepted audiences; the token must have at least one of them. Default: the server itself.',
    }),
  })),
  TokenReviewStatus: struct('Result of the check of a token.', () => ({
    authenticated: field(boolean(), { tag: 1, doc: 'True if the token is valid.' }),
    user: field(ref('authentication/v1.UserInfo'), { tag: 2, doc: 'The user that the token belongs to.' }),
    audiences: atomicSince30(list(string()), { tag: 4, doc: 'Audiences of the token among the accepted ones.' }),
    error: field(string(), { tag: 3, doc: 'Reason why the token could not be checked.' }),
  })),
  SelfSubjectReview: object('Asks for the user that the server authenticates the caller as.', () => ({
    metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
    status: field(ref('authentication/v1.SelfSubjectReviewStatus'), { tag: 2, doc: 'Answer of the server.' }),
  })),
  SelfSubjectReviewStatus: struct('The user that the server authenticates the caller as.', () => ({
    userInfo: field(ref('authentication/v1.UserInfo'), { tag: 1, doc: 'The user, after impersonation.' }),
  })),
  UserInfo: struct('A user.', () => ({
    username: field(string(), { tag: 1, doc: 'Name of the user.' }),
    uid: field(string(), { tag: 2, doc: 'Identity of the user, which differs for another user of the same name.' }),
    groups: atomicSince30(list(string()), { tag: 3, doc: 'Groups of the user.' }),
    extra: field(map(wrapped(string())), { tag: 4, doc: 'Further attributes of the user.' }),
  })),
})
