import { boolean, defineTypes, field, list, map, object, ref, string, struct, wrapped } from '../schema/define.ts'

/** The types of authentication/v1beta1: one definition each, read by everything that knows a type. */
export const authenticationV1beta1 = defineTypes({
  TokenReview: () =>
    object({
      metadata: field(ref('meta/v1.ObjectMeta'), {
        tag: 1,
        doc: 'Standard metadata of the object: its name, labels, annotations and what the server keeps about it.',
      }),
      spec: field(ref('authentication/v1beta1.TokenReviewSpec'), {
        tag: 2,
        required: true,
        doc: 'The wanted state, as the user asks for it.',
      }),
      status: field(ref('authentication/v1beta1.TokenReviewStatus'), {
        tag: 3,
        doc: 'The state last observed. It is written by the system, through the status subresource, and is read-only for users.',
      }),
    }),
  TokenReviewSpec: () =>
    struct({
      token: field(string(), { tag: 1 }),
      audiences: field(list(string()), { tag: 2 }),
    }),
  TokenReviewStatus: () =>
    struct({
      authenticated: field(boolean(), { tag: 1 }),
      user: field(ref('authentication/v1beta1.UserInfo'), { tag: 2 }),
      audiences: field(list(string()), { tag: 4 }),
      error: field(string(), { tag: 3 }),
    }),
  UserInfo: () =>
    struct({
      username: field(string(), { tag: 1 }),
      uid: field(string(), { tag: 2 }),
      groups: field(list(string()), { tag: 3 }),
      extra: field(map(wrapped(string())), { tag: 4 }),
    }),
})
