import { boolean, defineTypes, field, list, map, object, ref, string, struct, wrapped } from '../description/define.ts'

/** The types of authentication/v1beta1: one definition each, read by everything that knows a type. */
export const authenticationV1beta1 = defineTypes({
  TokenReview: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), {
          tag: 1,
          doc: 'Standard metadata; not used.',
        }),
        spec: field(ref('authentication/v1beta1.TokenReviewSpec'), {
          tag: 2,
          required: true,
          doc: 'The token.',
        }),
        status: field(ref('authentication/v1beta1.TokenReviewStatus'), {
          tag: 3,
          doc: 'What was found out, filled in by the server.',
        }),
      },
      { doc: 'Asks whether a token is good, and whose it is.' },
    ),
  TokenReviewSpec: () =>
    struct(
      {
        token: field(string(), { tag: 1, doc: 'The token.' }),
        audiences: field(list(string()), { tag: 2, doc: 'For whom the token must be, at least one of them. Default: the server itself.' }),
      },
      { doc: 'The token that is asked about.' },
    ),
  TokenReviewStatus: () =>
    struct(
      {
        authenticated: field(boolean(), { tag: 1, doc: 'Whether the token is good.' }),
        user: field(ref('authentication/v1beta1.UserInfo'), { tag: 2, doc: 'The user that the token belongs to.' }),
        audiences: field(list(string()), { tag: 4, doc: 'Audiences of the token among those that were asked for.' }),
        error: field(string(), { tag: 3, doc: 'Why the token could not be checked.' }),
      },
      { doc: 'What was found out about a token.' },
    ),
  SelfSubjectReview: () =>
    object(
      {
        metadata: field(ref('meta/v1.ObjectMeta'), { tag: 1, doc: 'Standard metadata; not used.' }),
        status: field(ref('authentication/v1beta1.SelfSubjectReviewStatus'), { tag: 2, doc: 'Who asks, filled in by the server.' }),
      },
      { doc: 'Asks who the one who asks is taken for.' },
    ),
  SelfSubjectReviewStatus: () =>
    struct({ userInfo: field(ref('authentication/v1.UserInfo'), { tag: 1, doc: 'The user, after impersonation.' }) }, { doc: 'Who asks.' }),
  UserInfo: () =>
    struct(
      {
        username: field(string(), { tag: 1, doc: 'Name of the user.' }),
        uid: field(string(), { tag: 2, doc: 'Identity of the user, which another one of the same name does not share.' }),
        groups: field(list(string()), { tag: 3, doc: 'Groups of the user.' }),
        extra: field(map(wrapped(string())), { tag: 4, doc: 'Further attributes of the user.' }),
      },
      { doc: 'A user.' },
    ),
})
